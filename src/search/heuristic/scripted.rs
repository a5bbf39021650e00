//! The scripted game: every position is even.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::{HasHeuristic, Heuristic};
use crate::game::{Action, ActionMask};
use crate::games::{Scripted, ScriptedPosition};

/// Evaluates every position as even.
#[derive(Clone, Copy, Debug)]
pub struct NoHeuristic;

impl Heuristic<Scripted> for NoHeuristic {
    fn evaluate(&self, _: &ScriptedPosition) -> i32 {
        0
    }

    fn forcing(&self, _: &ScriptedPosition, _: &ActionMask<1>) -> ActionMask<1> {
        ActionMask::default()
    }

    fn gain(&self, _: &ScriptedPosition, _: Action) -> i32 {
        0
    }

    fn key(&self, position: &ScriptedPosition) -> u64 {
        FixedState::default().hash_one(position)
    }
}

impl HasHeuristic for Scripted {
    type Heuristic = NoHeuristic;

    fn heuristic(&self) -> NoHeuristic {
        NoHeuristic
    }
}
