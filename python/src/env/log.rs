//! The actions of unfinished games, in the order of steps: a step appends one row, which costs far less than a list
//! for every game.

use std::collections::VecDeque;

use jarmo_core::env::{Opening, SavedGame};
use jarmo_core::game::{Action, Game};

/// Rows that are kept before old ones are looked for.
const LEAST_ROWS: usize = 64;

/// The actions of all slots of a part.
pub struct Log<P> {
    rows: VecDeque<Box<[Action]>>, // [steps, slots]
    first: u64,                    // the number of the first row; row 1 is that of the first step
    begun: Vec<Begun<P>>,          // [slots]
    crowded: usize,                // the number of rows at which old ones are dropped
}

/// How the game of a slot began.
struct Begun<P> {
    step: u64,
    opening: Option<Box<Opening<P>>>, // `None` at the start of the game, without any action
}

impl<P: Copy + PartialEq> Log<P> {
    pub fn new(slots: usize, steps: u64) -> Log<P> {
        let begun = |_| Begun {
            step: steps,
            opening: None,
        };
        Log {
            rows: VecDeque::new(),
            first: steps + 1,
            begun: (0..slots).map(begun).collect(),
            crowded: LEAST_ROWS,
        }
    }

    /// A game begins in a slot after this many steps.
    pub fn begin(&mut self, slot: usize, step: u64, opening: &Opening<P>) {
        let is_start = opening.actions.is_empty() && opening.start == opening.position;
        self.begun[slot] = Begun {
            step,
            opening: (!is_start).then(|| Box::new(opening.clone())),
        };
    }

    /// The actions of a step.
    pub fn push(&mut self, actions: &[Action]) {
        if self.rows.len() >= self.crowded {
            self.drop_old();
        }
        self.rows.push_back(actions.into());
    }

    /// Drops the rows that are older than all games.
    fn drop_old(&mut self) {
        let steps = self.begun.iter().map(|begun| begun.step);
        let oldest = steps.min().unwrap_or(u64::MAX) + 1;
        while self.first < oldest && self.rows.pop_front().is_some() {
            self.first += 1;
        }
        self.crowded = LEAST_ROWS.max(2 * self.rows.len());
    }

    /// The game of a slot.
    pub fn saved<G: Game<Position = P>>(&self, game: &G, slot: usize) -> SavedGame {
        let Begun { step, opening } = &self.begun[slot];
        let skipped = (step + 1 - self.first) as usize;
        let played = self.rows.iter().skip(skipped).map(|row| row[slot]);
        let (start, before) = match opening {
            Some(opening) => (opening.start, &opening.actions[..]),
            None => (game.start(), &[][..]),
        };
        let actions: Vec<Action> = before.iter().copied().chain(played).collect();
        SavedGame::of(game, &start, &actions)
    }
}
