//! Stores the actions of unfinished games by step: each step appends one row with an action per slot. That is much
//! cheaper than a list for every game.

use std::collections::VecDeque;

use super::Line;
use crate::game::{Action, Game};

/// Old rows are kept until there are this many.
const LEAST_ROWS: usize = 64;

/// The entry of a slot that did not act in a step.
const WAITED: Action = Action(u16::MAX);

/// Stands for the first row of a slot that has no game.
const NEVER: u64 = u64::MAX;

/// The actions of all slots of a shard since the oldest unfinished game began.
#[derive(Clone)]
pub(super) struct Log<P> {
    rows: VecDeque<Box<[Action]>>, // [steps][slots]
    first: u64,                    // the number of the step in the first row
    begun: Vec<Begun<P>>,          // [slots]
    crowded: usize,                // drop old rows at this number of rows
}

/// How the game in a slot began.
#[derive(Clone)]
struct Begun<P> {
    row: u64,                      // the number of its first row
    opening: Option<Box<Line<P>>>, // `None` for the game's start position without actions
}

impl<P: Copy + PartialEq> Log<P> {
    pub(super) fn new(slots: usize) -> Log<P> {
        let never = |_| Begun { row: NEVER, opening: None };
        Log { rows: VecDeque::new(), first: 0, begun: (0..slots).map(never).collect(), crowded: LEAST_ROWS }
    }

    /// Records that a game begins in a slot.
    pub(super) fn begin<G: Game<Position = P>>(&mut self, game: &G, slot: usize, opening: Line<P>) {
        let usual = opening.actions.is_empty() && opening.start == game.start();
        self.begun[slot] =
            Begun { row: self.first + self.rows.len() as u64, opening: (!usual).then(|| Box::new(opening)) };
    }

    /// Records that the game in a slot is over and no other begins.
    pub(super) fn end(&mut self, slot: usize) {
        self.begun[slot].row = NEVER;
    }

    /// Appends the actions of a step, one per slot.
    pub(super) fn push(&mut self, actions: &[Action]) {
        if self.rows.len() >= self.crowded {
            self.drop_old();
        }
        self.rows.push_back(actions.into());
    }

    /// Appends the actions of a step in which only some slots act.
    pub(super) fn push_some(&mut self, actions: &[(usize, Action)]) {
        let mut row = vec![WAITED; self.begun.len()];
        for &(slot, action) in actions {
            row[slot] = action;
        }
        self.push(&row);
    }

    /// Drops the rows from before the oldest unfinished game.
    fn drop_old(&mut self) {
        let rows = self.begun.iter().map(|begun| begun.row);
        let oldest = rows.min().unwrap_or(NEVER);
        while self.first < oldest && self.rows.pop_front().is_some() {
            self.first += 1;
        }
        self.crowded = LEAST_ROWS.max(2 * self.rows.len());
    }

    /// The game in a slot from its start. `position` is its current position.
    pub(super) fn history<G: Game<Position = P>>(&self, game: &G, slot: usize, position: P) -> Line<P> {
        let Begun { row, opening } = &self.begun[slot];
        let skipped = row.saturating_sub(self.first) as usize;
        let played = self.rows.iter().skip(skipped).map(|row| row[slot]);
        let (start, before) = match opening.as_deref() {
            Some(opening) => (opening.start, &opening.actions[..]),
            None => (game.start(), &[][..]),
        };
        let played = played.filter(|&action| action != WAITED);
        Line { start, actions: before.iter().copied().chain(played).collect(), position }
    }
}
