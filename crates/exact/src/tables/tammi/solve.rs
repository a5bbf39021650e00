//! Solves one layer of tammi in memory.
//!
//! Captures are compulsory. So in a position either all actions are captures, which lead to lower layers, or none is,
//! and they stay in the layer. The first kind has its result at once; in the others a counter has the actions not yet
//! known to lose, and results spread backwards by distance until the limit on plies without a capture.

use rayon::prelude::*;

use super::{FORCES, TammiLayer};
use crate::tables::code::{self, ActionCounters, DRAWN, LAST_COUNTER};
use crate::tables::file::Bytes;
use crate::tables::solvable::{Layer, Solvable};
use jarmo_core::game::{Game, Mask, Verdict};
use jarmo_core::games::{Tammi, TammiPosition};

/// The maximum number of actions of a player in a position without captures: each king reaches thirteen squares.
const MOST_ACTIONS: u32 = 13 * *FORCES.end();

/// Placements whose results spread before the placements they lead to are updated.
const BATCH: usize = 1 << 20;

/// Placements that one thread takes at a time.
const PART: usize = 1 << 13;

/// A placement to update, and whether the result that it can reach is a win for the opponent.
struct Update {
    index: usize,
    loses: bool,
}

/// The bytes of a layer, and the longest distance. `lower` has all layers below it.
pub(super) fn solve(game: &Tammi, layer: &TammiLayer, lower: &[Bytes], tell: &mut dyn FnMut(f64)) -> (Vec<u8>, u32) {
    let game = &game.clone().with_max_plies(0);
    let lower: Vec<(TammiLayer, &[u8])> =
        FORCES.zip(lower).map(|(force, bytes)| (TammiLayer::new(force), bytes.get())).collect();
    let result = |position: &TammiPosition| {
        let (layer, bytes) = lower.get((Tammi::force(position) - FORCES.start()) as usize)?;
        let byte = bytes[layer.index_of(position)?];
        Some(code::proven(byte).verdict)
    };
    let counters = ActionCounters::up_to(MOST_ACTIONS);
    assert!(game.quiet_limit() <= counters.most_plies());
    let mut bytes = vec![0; layer.size()];
    let steps = f64::from(game.quiet_limit() + 1);
    bytes.par_chunks_mut(PART).enumerate().for_each(|(part, bytes)| {
        for (byte, index) in bytes.iter_mut().zip(part * PART..) {
            *byte = first_byte(game, &result, counters, &layer.position_at(index));
        }
    });
    tell(1.0 / steps);
    for plies in 0..game.quiet_limit() {
        for start in (0..bytes.len()).step_by(BATCH) {
            let batch = start..bytes.len().min(start + BATCH);
            for update in origins(layer, &bytes, batch, plies).into_iter().flatten() {
                let byte = &mut bytes[update.index];
                if !counters.is_counter(*byte) {
                    continue; // the player had to capture, or has a quicker win
                }
                *byte = match (update.loses, *byte) {
                    (false, _) => code::won(plies + 1),
                    (true, LAST_COUNTER) => code::lost(plies + 1),
                    (true, counter) => counter + 1,
                };
            }
        }
        tell(f64::from(plies + 2) / steps);
    }
    let longest = counters.distances(&bytes).longest();
    bytes.par_iter_mut().filter(|byte| counters.is_counter(**byte)).for_each(|byte| *byte = DRAWN);
    (bytes, longest)
}

/// The placements before those of a batch that are decided in this many plies.
fn origins(layer: &TammiLayer, bytes: &[u8], batch: std::ops::Range<usize>, plies: u32) -> Vec<Vec<Update>> {
    let (won, lost) = (code::won(plies), code::lost(plies));
    let parts = bytes[batch.clone()].par_chunks(PART).enumerate();
    let part = |(part, bytes): (usize, &[u8])| {
        let mut updates = Vec::new();
        let indices = batch.start + part * PART..;
        let decided = indices.zip(bytes).filter(|(_, byte)| **byte == won || **byte == lost);
        for (index, &byte) in decided {
            layer.position_at(index).each_quiet_origin(|board| {
                let index = layer.index_of_board(board);
                updates.push(Update { index: index.expect("a move keeps the pieces"), loses: byte == won });
            });
        }
        updates
    };
    parts.map(part).collect()
}

/// The byte of a position without a history: its result if it is known from lower layers, otherwise a counter of
/// its actions.
fn first_byte(
    game: &Tammi,
    lower: &impl Fn(&TammiPosition) -> Option<Verdict>,
    counters: ActionCounters,
    position: &TammiPosition,
) -> u8 {
    match choices(game, position) {
        Choices::None => code::lost(0),
        Choices::Moves(count) => counters.counter(count),
        Choices::Captures => match best_capture(game, position, lower).expect("lower layers are solved") {
            Verdict::Win => code::won(1),
            Verdict::Draw => DRAWN,
            Verdict::Loss => code::lost(1),
        },
    }
}

/// What a player can do in a position without a history.
pub(super) enum Choices {
    None,
    Captures,
    Moves(u32),
}

/// What the player to move can do in a position without a history.
pub(super) fn choices(game: &Tammi, position: &TammiPosition) -> Choices {
    let legal = game.legal(position);
    match legal.iter().next() {
        None => Choices::None,
        Some(first) if position.jumped_by(first) == 0 => Choices::Moves(legal.count()),
        Some(_) => Choices::Captures,
    }
}

/// The result of a position in which the player to move captures, by the results of the positions after the
/// capture for their player to move; `None` if one of them is needed and unknown.
pub(super) fn best_capture(
    game: &Tammi,
    position: &TammiPosition,
    after: &impl Fn(&TammiPosition) -> Option<Verdict>,
) -> Option<Verdict> {
    let mut best = Verdict::Loss;
    for action in game.legal(position).iter() {
        let next = game.after(position, action);
        let [own, ..] = next.mover_view();
        best = best.max(if next.jumper().is_some() {
            best_capture(game, &next, after)?
        } else if own == 0 {
            Verdict::Win // that was the last piece
        } else {
            after(&next)?.flip()
        });
        if best == Verdict::Win {
            break;
        }
    }
    Some(best)
}
