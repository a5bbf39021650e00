//! In which order actions are tried: what is likely to be best first.

use crate::game::{Action, Game, Mask, Player};
use crate::search::Heuristic;

/// The deepest line that is searched.
pub(super) const MOST_PLIES: usize = 128;

/// Quiet actions remembered per ply for having refuted something there.
const KILLERS: usize = 2;

/// Scores of the classes of actions, far apart.
const REMEMBERED: i32 = 1 << 30;
const FORCING: i32 = 1 << 28;
const KILLER: i32 = 1 << 26;

/// Where a history score stops growing.
const MOST_HISTORY: i32 = 1 << 24;

/// What was learned about quiet actions during one search.
#[derive(Debug)]
pub(super) struct Experience {
    killers: [[Action; KILLERS]; MOST_PLIES],
    history: [Vec<i32>; 2], // by player and action
}

const NO_ACTION: Action = Action(u16::MAX);

impl Experience {
    pub(super) fn new(actions: usize) -> Experience {
        Experience {
            killers: [[NO_ACTION; KILLERS]; MOST_PLIES],
            history: [vec![0; actions], vec![0; actions]],
        }
    }

    pub(super) fn forget(&mut self) {
        self.killers = [[NO_ACTION; KILLERS]; MOST_PLIES];
        for scores in &mut self.history {
            scores.fill(0);
        }
    }

    /// A quiet action refuted the position at this ply.
    #[inline]
    pub(super) fn refuted(&mut self, ply: usize, mover: Player, action: Action, depth: i32) {
        let killers = &mut self.killers[ply];
        if killers[0] != action {
            killers[1] = killers[0];
            killers[0] = action;
        }
        let history = &mut self.history[mover.index()];
        history[action.index()] += depth * depth;
        if history[action.index()] > MOST_HISTORY {
            history.iter_mut().for_each(|score| *score /= 2);
        }
    }

    /// A quiet action was tried before the one that refuted the position.
    #[inline]
    pub(super) fn failed(&mut self, mover: Player, action: Action, depth: i32) {
        let score = &mut self.history[mover.index()][action.index()];
        *score -= depth * depth / 4 + *score / 64;
    }
}

/// An action with its score in one number: the larger, the sooner; the lower action among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scored(i64);

impl Scored {
    #[inline]
    fn new(score: i32, action: Action) -> Scored {
        Scored(i64::from(score) << 16 | i64::from(!action.0))
    }

    #[inline]
    pub(super) fn action(self) -> Action {
        Action(!(self.0 as u16))
    }
}

/// What the order of a position's actions depends on.
pub(super) struct Scoring<'a, G: Game> {
    pub(super) position: &'a G::Position,
    pub(super) mover: Player,
    pub(super) ply: usize,
    pub(super) remembered: Option<Action>,
    pub(super) forcing: &'a G::Mask,
}

impl<G: Game> Scoring<'_, G> {
    /// Appends the actions of `among` with their scores.
    #[inline]
    pub(super) fn push<H: Heuristic<G>>(
        &self,
        heuristic: &H,
        experience: &Experience,
        among: &G::Mask,
        out: &mut Vec<Scored>,
    ) {
        let killers = &experience.killers[self.ply];
        let history = &experience.history[self.mover.index()];
        for action in among.iter() {
            let score = if Some(action) == self.remembered {
                REMEMBERED
            } else if self.forcing.contains(action) {
                FORCING + heuristic.gain(self.position, action)
            } else if action == killers[0] {
                KILLER + 1
            } else if action == killers[1] {
                KILLER
            } else {
                history[action.index()]
            };
            out.push(Scored::new(score, action));
        }
    }
}

/// Brings the best of `left` to its front.
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
