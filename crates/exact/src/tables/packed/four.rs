//! Jarmo's packed results: win, draw or loss of all positions of a force, without distances.
//!
//! Only positions with White to move are stored. The result of a position with Black to move follows from those of its
//! successors, in which White is to move. The positions of equal material are a matrix, with a row for every placement
//! of White and a column for every placement of Black on the circles left; that is the order of the positions with
//! Black to move in [`Layer`]. So the successors by Black's moves to empty circles lie in one row. Four neighbouring
//! results make a symbol.

use super::PackedLayer;
use crate::tables::code;
use crate::tables::index::{Army, Block, Layer, Material, Placement, army, number_of};
use crate::tables::lines::goal;
use crate::tables::subsets::{compress, expand, next, places_outside, rank};
use jarmo_core::game::{Player, Verdict};
use jarmo_core::games::board::CIRCLES;

/// Results in a symbol.
const FOUR: usize = 4;

/// The results for White, who is to move, by their numbers in a symbol.
const RESULTS: [Verdict; 3] = [Verdict::Loss, Verdict::Draw, Verdict::Win];

/// The rows of every matrix, and the symbols of a row.
pub(in crate::tables) fn matrices(layer: &Layer) -> Vec<[usize; 2]> {
    let turned = layer.blocks.iter().filter(|block| block.material.mover == Player::Black);
    turned.map(|block| [block.rows, block.columns.div_ceil(FOUR)]).collect()
}

/// White's result in a position of the layer that is not over, with White to move.
#[inline]
pub(in crate::tables) fn verdict(packed: &PackedLayer, layer: &Layer, placement: &Placement) -> Option<Verdict> {
    debug_assert_eq!(placement.mover, Player::White);
    let turned = placement.passed();
    let index = layer.index(&turned)?;
    let block = layer.block_of(&Material::of(&turned))?;
    let Block { start, columns, .. } = layer.blocks[block];
    let (row, column) = ((index - start) / columns, (index - start) % columns);
    let at = row * columns.div_ceil(FOUR) + column / FOUR;
    // White to move comes before Black to move.
    let symbol = packed.symbol(block / 2, at);
    const POWERS: [u8; FOUR] = [1, 3, 9, 27];
    Some(RESULTS[usize::from(symbol / POWERS[column % FOUR] % 3)])
}

/// The symbols of one placement of White. A game that is over takes the result before it, because the rules decide it
/// and repeats take the least space.
pub(in crate::tables) fn read_row(layer: &Layer, values: &[u8], (matrix, placement): (usize, usize), out: &mut [u8]) {
    let block = &layer.blocks[2 * matrix]; // with White to move
    let values = &values[block.start..][..block.size()];
    let (white, black) = (block.material.own, block.material.enemy);
    let Army { archers, .. } = army(white, placement, 0);
    let marks_of_white = placement % white.patterns();
    let places = places_outside(archers);
    let white_over = archers & !goal(Player::White) == 0;
    let columns = black.placements(CIRCLES - usize::from(white.archers));
    let mut results = Vec::with_capacity(FOUR * out.len());
    let mut set = (1_u32 << black.archers) - 1;
    let mut last = Verdict::Draw as u8;
    while results.len() < columns {
        let enemy = expand(set, &places);
        let patterns = black.patterns();
        if white_over || enemy & !goal(Player::Black) == 0 {
            results.extend((0..patterns).map(|_| last));
        } else {
            let own = compress(archers, enemy);
            let column = rank(own, white.archers.into()) * white.patterns() + marks_of_white;
            let first = number_of(black, enemy, 0);
            let value = |marks| values[(first + marks) * block.columns + column];
            results.extend((0..patterns).map(|marks| code::proven(value(marks)).verdict as u8));
            last = results[results.len() - 1];
        }
        set = next(set);
    }
    results.resize(FOUR * out.len(), last);
    for (symbol, four) in out.iter_mut().zip(results.as_chunks::<FOUR>().0) {
        *symbol = four.iter().rev().fold(0, |symbol, result| 3 * symbol + result);
    }
}
