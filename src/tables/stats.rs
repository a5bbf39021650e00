//! Counts of results in the tables.

use rayon::prelude::*;

use super::code;
use super::index::Layer;
use super::lookup::Tables;
use crate::game::{Player, Verdict};
use crate::games::JarmoPosition;

/// Results of all positions with one force and one side to move.
///
/// Every placement counts, reachable or not. Finished games are counted separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideStats {
    /// The player to move.
    pub to_move: Player,
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
#[derive(Clone, Debug, PartialEq)]
pub struct LayerStats {
    /// Archers plus marks.
    pub force: u32,
    /// By side to move, White first.
    pub sides: [SideStats; 2],
    /// The longest win under best play, in plies, and the first position with it.
    pub longest_win: Option<(u32, JarmoPosition)>,
    /// The longest loss under best play, in plies, and the first position with it.
    pub longest_loss: Option<(u32, JarmoPosition)>,
}

impl Tables {
    /// Counts every layer.
    pub fn stats(&self) -> Vec<LayerStats> {
        self.layers()
            .map(|layer| match self.packed(layer.force()) {
                Some(packed) => packed.stats().clone(),
                None => layer_stats(layer, self.bytes(layer.force()).expect("solved")),
            })
            .collect()
    }
}

/// Counts the results of a layer, one byte per position.
pub(super) fn layer_stats(layer: &Layer, bytes: &[u8]) -> LayerStats {
    let mut sides = Player::BOTH.map(|to_move| SideStats {
        to_move,
        won: 0,
        drawn: 0,
        lost: 0,
        over: 0,
    });
    let mut longest = [(0, 0); 2]; // of wins and losses: plies, byte
    for block in layer.blocks() {
        let counts = count(&bytes[block.start..][..block.size()]);
        let side = &mut sides[block.material.mover.index()];
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
        (plies > 0).then(|| (plies, layer.placement(index).position()))
    });
    LayerStats {
        force: layer.force(),
        sides,
        longest_win,
        longest_loss,
    }
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
        .reduce(
            || [0; 256],
            |mut sum, counts| {
                for (sum, count) in sum.iter_mut().zip(counts) {
                    *sum += count;
                }
                sum
            },
        )
}
