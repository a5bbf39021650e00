//! Scores and lines, and how scores are stored in the transposition table.

use super::order::MAX_PLIES;
use crate::eval::Value;
use crate::game::{Action, Proven};
use crate::search::{HasHeuristic, Heuristic};

/// The score of a win at the root. A win in n plies scores n less. Larger than every evaluation.
pub(super) const WIN: i32 = 32_000;

/// The smallest score that is a win. Larger than every evaluation.
pub(super) const MIN_WIN: i32 = WIN - MAX_PLIES as i32 - 1;

/// The largest score that is a loss.
pub(super) const MAX_LOSS: i32 = -MIN_WIN;

/// Larger than every score.
pub(super) const INFINITE: i32 = 32_500;

/// One action at the root, with its score and the expected line of play.
#[derive(Clone, Debug, PartialEq)]
pub struct RootLine {
    /// The expected line of play, starting with this action.
    pub actions: Vec<Action>,
    /// The score for the player to move, in hundredths of a point. Proven wins and losses exceed
    /// [`MAX_CENTIPOINTS`](crate::search::heuristic::MAX_CENTIPOINTS).
    pub score: i32,
    /// The proven result, if the search reached the end of the game.
    pub proven: Option<Proven>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The best lines, best first. There are as many as requested, unless there are fewer legal actions.
    pub lines: Vec<RootLine>,
    /// The last depth that was completed.
    pub depth: u32,
    /// The number of positions searched.
    pub nodes: u64,
}

impl RootLine {
    pub(super) fn new(actions: Vec<Action>, score: i32) -> RootLine {
        let proven = (score.abs() >= MIN_WIN).then(|| {
            let plies = (WIN - score.abs()) as u32;
            if score > 0 { Proven::win(plies) } else { Proven::loss(plies) }
        });
        RootLine { actions, score, proven }
    }

    /// Whether the result is proven by a line within this depth, so that a deeper search cannot change it.
    pub(super) fn is_certain_at(&self, depth: i32) -> bool {
        self.proven.and_then(|proven| proven.plies).is_some_and(|plies| plies as i32 <= depth)
    }

    /// The score as a value.
    pub fn value<G: HasHeuristic>(&self) -> Value {
        match self.proven {
            Some(proven) => Value::certain(proven.verdict, 0.0),
            None => G::Heuristic::value(self.score),
        }
    }
}

/// The score of a win or loss that comes this many plies sooner, or later if `plies` is negative; other scores do not
/// change. The table counts plies from the stored position, the search counts from the root.
#[inline]
pub(super) fn sooner(score: i32, plies: i32) -> i32 {
    match score {
        MIN_WIN.. => score + plies,
        ..=MAX_LOSS => score - plies,
        _ => score,
    }
}
