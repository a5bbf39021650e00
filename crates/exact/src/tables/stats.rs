//! Counts of results in the tables.

use rayon::prelude::*;

use super::code;
use super::solvable::Layer;
use jarmo_core::game::{Player, Verdict};

/// Results of all positions with one force and one side to move.
///
/// Every placement counts, reachable or not. Finished games are counted separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideStats {
    /// The player to move; `None` if the placements stand for both players.
    pub to_move: Option<Player>,
    /// Positions won by the player to move.
    pub won: u64,
    /// Drawn positions.
    pub drawn: u64,
    /// Positions lost by the player to move.
    pub lost: u64,
    /// Finished games.
    pub over: u64,
}

/// Results of one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerStats {
    /// What is left on the board.
    pub force: u32,
    /// By side to move, White first.
    pub sides: Vec<SideStats>,
    /// The length in plies of the longest win under best play, and the first index with it.
    pub longest_win: Option<(u32, usize)>,
    /// The length in plies of the longest loss under best play, and the first index with it.
    pub longest_loss: Option<(u32, usize)>,
}

impl LayerStats {
    /// The length in plies of the longest win or loss.
    pub(super) fn longest(&self) -> u32 {
        self.longest_win.max(self.longest_loss).map_or(0, |(plies, _)| plies)
    }
}

/// Counts the results of a layer, one byte per index.
pub(super) fn layer_stats(layer: &impl Layer, bytes: &[u8]) -> LayerStats {
    let mut sides: Vec<SideStats> = Vec::new();
    let mut longest = [(0, 0); 2]; // of wins and losses: plies, byte
    for (to_move, range) in layer.sides() {
        let counts = count(&bytes[range]);
        let number = sides.iter().position(|side| side.to_move == to_move).unwrap_or_else(|| {
            sides.push(SideStats { to_move, won: 0, drawn: 0, lost: 0, over: 0 });
            sides.len() - 1
        });
        let side = &mut sides[number];
        for (byte, &positions) in (0..=u8::MAX).zip(&counts) {
            let proven = code::proven(byte);
            let plies = proven.plies.unwrap_or(0);
            match proven.verdict {
                _ if proven.is_over() => side.over += positions,
                Verdict::Draw => side.drawn += positions,
                Verdict::Win if positions > 0 => {
                    side.won += positions;
                    longest[0] = longest[0].max((plies, byte));
                }
                Verdict::Loss if positions > 0 => {
                    side.lost += positions;
                    longest[1] = longest[1].max((plies, byte));
                }
                Verdict::Win | Verdict::Loss => {}
            }
        }
    }
    let [longest_win, longest_loss] = longest.map(|(plies, byte)| {
        let index = bytes.par_iter().position_first(|&other| other == byte)?;
        (plies > 0).then_some((plies, index))
    });
    LayerStats { force: layer.force(), sides, longest_win, longest_loss }
}

/// How often each byte occurs.
fn count(bytes: &[u8]) -> [u64; 256] {
    const PIECE: usize = 1 << 20;
    bytes
        .par_chunks(PIECE)
        .map(|piece| {
            let mut counts = [0_u64; 256];
            for &byte in piece {
                counts[usize::from(byte)] += 1;
            }
            counts
        })
        .reduce(|| [0; 256], |left, right| std::array::from_fn(|byte| left[byte] + right[byte]))
}
