//! The heuristic of games that have none, and of the scripted game: every position is even.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::{HasHeuristic, Heuristic};
use crate::game::{Action, Game};
use crate::games::Scripted;

/// Evaluates every position as even.
#[derive(Clone, Copy, Debug)]
pub struct NoHeuristic;

impl<G: Game> Heuristic<G> for NoHeuristic {
    fn evaluate(&self, _: &G::Position) -> i32 {
        0
    }

    fn forcing(&self, _: &G::Position, _: &G::Mask) -> G::Mask {
        G::Mask::default()
    }

    fn gain(&self, _: &G::Position, _: Action) -> i32 {
        0
    }

    fn key(&self, position: &G::Position) -> u64 {
        FixedState::default().hash_one(position)
    }
}

/// Alpha-beta of a game that is short enough to be searched to its ends.
impl HasHeuristic for Scripted {
    type Heuristic = NoHeuristic;

    fn heuristic(&self) -> Option<NoHeuristic> {
        Some(NoHeuristic)
    }
}
