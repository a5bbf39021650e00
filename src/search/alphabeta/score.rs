//! Scores, the lines that have them, and how the table of positions keeps them.

use super::order::MOST_PLIES;
use crate::eval::Value;
use crate::game::{Action, Proven};
use crate::search::{Heuristic, Judged};

/// A win now; a win later is worth one less per ply. Above every evaluation.
pub(super) const WIN: i32 = 32_000;

/// Above every evaluation, below every win that search can see.
pub(super) const LEAST_WIN: i32 = WIN - MOST_PLIES as i32 - 1;

/// Likewise for losses.
pub(super) const LEAST_LOSS: i32 = -LEAST_WIN;

/// More than any score.
pub(super) const INFINITE: i32 = 32_500;

/// One action at the root with what search found behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The play expected, this action first.
    pub actions: Vec<Action>,
    /// The result in hundredths of a point, for the player to move; results that are certain are
    /// beyond [`MOST_CENTIPOINTS`](crate::search::heuristic::MOST_CENTIPOINTS).
    pub score: i32,
    /// The result, if the search saw the end: with the plies until it.
    pub proven: Option<Proven>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best lines, best first; as many as were asked for, if there are as many actions.
    pub lines: Vec<Line>,
    /// The depth that was searched to the end.
    pub depth: u32,
    /// Positions looked at.
    pub nodes: u64,
}

impl Line {
    pub(super) fn new(actions: Vec<Action>, score: i32) -> Line {
        let proven = (score.abs() >= LEAST_WIN).then(|| {
            let plies = (WIN - score.abs()) as u32;
            if score > 0 {
                Proven::win(plies)
            } else {
                Proven::loss(plies)
            }
        });
        Line {
            actions,
            score,
            proven,
        }
    }

    /// Whether deeper search than this cannot change what is known of the result.
    pub(super) fn is_certain_at(&self, depth: i32) -> bool {
        self.proven
            .and_then(|proven| proven.plies)
            .is_some_and(|plies| plies as i32 <= depth)
    }

    /// The score as a value.
    pub fn value<G: Judged>(&self) -> Value {
        match self.proven {
            Some(proven) => Value::certain(proven.verdict, 0.0),
            None => G::Heuristic::value(self.score),
        }
    }
}

/// Wins count from the position they are remembered for, not from the root.
#[inline]
pub(super) fn to_table(score: i32, ply: usize) -> i32 {
    match score {
        LEAST_WIN.. => score + ply as i32,
        ..=LEAST_LOSS => score - ply as i32,
        _ => score,
    }
}

#[inline]
pub(super) fn from_table(score: i32, ply: usize) -> i32 {
    match score {
        LEAST_WIN.. => score - ply as i32,
        ..=LEAST_LOSS => score + ply as i32,
        _ => score,
    }
}
