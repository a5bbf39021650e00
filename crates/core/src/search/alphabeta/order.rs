//! Move ordering: first the action from the transposition table, then forcing actions, killers, and the rest by
//! history score.

use crate::game::{Action, Player};

/// The largest number of plies from the root.
pub(super) const MAX_PLIES: usize = 128;

/// The number of killers kept per ply.
const KILLERS: usize = 2;

/// Scores that separate the classes of actions. History scores stay below all of them.
pub(super) const TABLE_ACTION: i32 = 1 << 30;
pub(super) const FORCING: i32 = 1 << 28;
const KILLER: i32 = 1 << 26;

/// History scores are halved when one exceeds this.
const MAX_HISTORY: i32 = 1 << 24;

/// Killers and history scores of quiet actions. They last for one search.
#[derive(Debug)]
pub(super) struct OrderStats {
    killers: [[Action; KILLERS]; MAX_PLIES],
    history: [Vec<i32>; 2], // [player][action]
}

const NO_ACTION: Action = Action(u16::MAX);

impl OrderStats {
    pub(super) fn new(actions: usize) -> OrderStats {
        OrderStats { killers: [[NO_ACTION; KILLERS]; MAX_PLIES], history: [vec![0; actions], vec![0; actions]] }
    }

    /// The score of a quiet action.
    #[inline]
    pub(super) fn score(&self, ply: usize, mover: Player, action: Action) -> i32 {
        let [first, second] = self.killers[ply];
        if action == first {
            KILLER + 1
        } else if action == second {
            KILLER
        } else {
            self.history[mover.index()][action.index()]
        }
    }

    /// Records a quiet action that caused a cutoff.
    #[inline]
    pub(super) fn cutoff(&mut self, ply: usize, mover: Player, action: Action, depth: i32) {
        let killers = &mut self.killers[ply];
        if killers[0] != action {
            killers[1] = killers[0];
            killers[0] = action;
        }
        let history = &mut self.history[mover.index()];
        history[action.index()] += depth * depth;
        if history[action.index()] > MAX_HISTORY {
            history.iter_mut().for_each(|score| *score /= 2);
        }
    }

    /// Records a quiet action that was tried before the one that caused a cutoff.
    #[inline]
    pub(super) fn failed(&mut self, mover: Player, action: Action, depth: i32) {
        let score = &mut self.history[mover.index()][action.index()];
        *score -= depth * depth / 4 + *score / 64;
    }
}

/// An action and its score in one number, so that actions are compared with one instruction. A larger score comes
/// first; ties go to the lower action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scored(i64);

impl Scored {
    #[inline]
    pub(super) fn new(score: i32, action: Action) -> Scored {
        Scored(i64::from(score) << 16 | i64::from(!action.0))
    }

    #[inline]
    pub(super) fn action(self) -> Action {
        Action(!(self.0 as u16))
    }
}

/// Moves the best of the remaining actions to the front and returns it.
#[inline]
pub(super) fn pick(left: &mut [Scored]) -> Action {
    let mut best = 0;
    for index in 1..left.len() {
        if left[index] > left[best] {
            best = index;
        }
    }
    left.swap(0, best);
    left[0].action()
}
