//! Scores, lines, and scores in the transposition table.

use super::order::MAX_PLIES;
use crate::eval::Value;
use crate::game::{Action, Proven};
use crate::search::{HasHeuristic, Heuristic};

/// The score of a win now; a later win scores one less per ply. Above every evaluation.
pub(super) const WIN: i32 = 32_000;

/// The smallest score of a win that search can find. Above every evaluation.
pub(super) const MIN_WIN: i32 = WIN - MAX_PLIES as i32 - 1;

/// The largest score of a loss.
pub(super) const MAX_LOSS: i32 = -MIN_WIN;

/// Above every score.
pub(super) const INFINITE: i32 = 32_500;

/// One action at the root with its score and expected play.
#[derive(Clone, Debug, PartialEq)]
pub struct RootLine {
    /// The expected play, this action first.
    pub actions: Vec<Action>,
    /// The score for the player to move, in hundredths of a point. Proven wins and losses are beyond
    /// [`MAX_CENTIPOINTS`](crate::search::heuristic::MAX_CENTIPOINTS).
    pub score: i32,
    /// The proven result, if the search reached the end of the game.
    pub proven: Option<Proven>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The best lines, best first: the requested number, or one per legal action if there are fewer.
    pub lines: Vec<RootLine>,
    /// The last completed depth.
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

    /// Whether a search deeper than this cannot change the result.
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

/// The score with a win or loss so many plies sooner, or later if they are negative. The table counts plies from the
/// stored position, the search from the root.
#[inline]
pub(super) fn sooner(score: i32, plies: i32) -> i32 {
    match score {
        MIN_WIN.. => score + plies,
        ..=MAX_LOSS => score - plies,
        _ => score,
    }
}
