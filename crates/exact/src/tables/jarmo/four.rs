//! Jarmo's packed results: win, draw or loss of all positions of a force, without distances.
//!
//! Only positions with White to move are stored. The result of a position with Black to move follows from those of its
//! successors, in which White is to move. The results come in the order of the *turned* positions, with the same pieces
//! and Black to move: then the successors by Black's moves to empty circles lie in one row of a block. Four neighbouring
//! results make a symbol.

use rayon::prelude::*;

use crate::tables::code;
use crate::tables::index::{Army, Block, JarmoLayer, Placement, army, number_of};
use crate::tables::lines::goal;
use crate::tables::subsets::{compress, expand, next, places_outside, rank};
use jarmo_core::game::{Player, Verdict};

/// Results in a symbol.
const FOUR: usize = 4;

/// The results for White, who is to move, by their numbers in a symbol.
const RESULTS: [Verdict; 3] = [Verdict::Loss, Verdict::Draw, Verdict::Win];

/// White's result in a position of the layer that is not over, with White to move.
#[inline]
pub(super) fn verdict(layer: &JarmoLayer, symbol: &dyn Fn(usize) -> u8, placement: &Placement) -> Option<Verdict> {
    debug_assert_eq!(placement.mover, Player::White);
    let number = layer.index_of_side(&placement.passed())?;
    const POWERS: [u8; FOUR] = [1, 3, 9, 27];
    Some(RESULTS[usize::from(symbol(number / FOUR) / POWERS[number % FOUR] % 3)])
}

/// Passes the symbols of a layer with these values on, in order: the share of the work that is done, then some of them.
pub(super) fn each_symbol(layer: &JarmoLayer, values: &[u8], visit: &mut dyn FnMut(f64, &[u8])) {
    const ROWS: usize = 1 << 12; // neighbouring rows are read together: their values lie close together in the table
    let mut results = Vec::new(); // that are not in a symbol yet
    for [block, turned] in layer.blocks.as_chunks::<2>().0 {
        for first in (0..turned.rows).step_by(ROWS) {
            let end = turned.rows.min(first + ROWS);
            let rows: Vec<Vec<u8>> =
                (first..end).into_par_iter().map(|row| results_of_row(block, turned, values, row)).collect();
            results.extend(rows.concat());
            let done = (turned.start + end * turned.columns) as f64 / layer.size as f64;
            let whole = results.len() / FOUR * FOUR;
            visit(done, &symbols(&results[..whole]));
            results.drain(..whole);
        }
    }
    results.resize(results.len().next_multiple_of(FOUR), 0);
    visit(1.0, &symbols(&results));
}

fn symbols(results: &[u8]) -> Vec<u8> {
    let fours = results.as_chunks::<FOUR>().0.iter();
    fours.map(|four| four.iter().rev().fold(0, |symbol, result| 3 * symbol + result)).collect()
}

/// The results of one placement of White in a block with White to move. A game that is over takes the result before it,
/// because the rules decide it and repeats take the least space.
fn results_of_row(block: &Block, turned: &Block, values: &[u8], row: usize) -> Vec<u8> {
    let values = &values[block.start..][..block.size()];
    let (white, black) = (block.material.own, block.material.enemy);
    let Army { archers, .. } = army(white, row, 0);
    let marks_of_white = row % white.patterns();
    let places = places_outside(archers);
    let white_over = archers & !goal(Player::White) == 0;
    let mut results = Vec::with_capacity(turned.columns);
    let mut set = (1_u32 << black.archers) - 1;
    let mut last = Verdict::Draw as u8;
    while results.len() < turned.columns {
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
    results
}
