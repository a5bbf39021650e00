//! The actions of unfinished games, in the order of steps: a step appends one row, which costs far less than a list
//! for every game.

use std::collections::VecDeque;

use super::Line;
use crate::game::{Action, Game};

/// Rows that are kept before old ones are looked for.
const LEAST_ROWS: usize = 64;

/// In a row: the slot did not act.
const WAITED: Action = Action(u16::MAX);

/// The first row of a slot without a game.
const NEVER: u64 = u64::MAX;

/// The actions of all slots of a shard.
#[derive(Clone)]
pub(super) struct Log<P> {
    rows: VecDeque<Box<[Action]>>, // [steps, slots]
    first: u64,                    // the number of the first row
    begun: Vec<Begun<P>>,          // [slots]
    crowded: usize,                // the number of rows at which old ones are dropped
}

/// How the game of a slot began.
#[derive(Clone)]
struct Begun<P> {
    row: u64,                      // its first row
    opening: Option<Box<Line<P>>>, // `None` at the start of the game, without any action
}

impl<P: Copy + PartialEq> Log<P> {
    pub(super) fn new(slots: usize) -> Log<P> {
        let never = |_| Begun { row: NEVER, opening: None };
        Log { rows: VecDeque::new(), first: 0, begun: (0..slots).map(never).collect(), crowded: LEAST_ROWS }
    }

    /// A game begins in a slot.
    pub(super) fn begin<G: Game<Position = P>>(&mut self, game: &G, slot: usize, opening: Line<P>) {
        let usual = opening.actions.is_empty() && opening.start == game.start();
        self.begun[slot] =
            Begun { row: self.first + self.rows.len() as u64, opening: (!usual).then(|| Box::new(opening)) };
    }

    /// The game of a slot is over and no other begins.
    pub(super) fn end(&mut self, slot: usize) {
        self.begun[slot].row = NEVER;
    }

    /// The actions of a step, one per slot.
    pub(super) fn push(&mut self, actions: &[Action]) {
        if self.rows.len() >= self.crowded {
            self.drop_old();
        }
        self.rows.push_back(actions.into());
    }

    /// The actions of a step in which only these slots act.
    pub(super) fn push_some(&mut self, actions: &[(usize, Action)]) {
        let mut row = vec![WAITED; self.begun.len()];
        for &(slot, action) in actions {
            row[slot] = action;
        }
        self.push(&row);
    }

    /// Drops the rows that are older than all games.
    fn drop_old(&mut self) {
        let rows = self.begun.iter().map(|begun| begun.row);
        let oldest = rows.min().unwrap_or(NEVER);
        while self.first < oldest && self.rows.pop_front().is_some() {
            self.first += 1;
        }
        self.crowded = LEAST_ROWS.max(2 * self.rows.len());
    }

    /// The game of a slot that has one, up to this position.
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
