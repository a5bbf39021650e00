//! The scripted game has no opinion before its end: search on it has nothing but the rules to go by.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::{Heuristic, Judged};
use crate::game::{Action, ActionMask};
use crate::games::{Scripted, ScriptedPosition};

/// Judges every position as even.
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

impl Judged for Scripted {
    type Heuristic = NoHeuristic;

    fn heuristic(&self) -> NoHeuristic {
        NoHeuristic
    }
}
