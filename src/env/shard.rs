//! The games that one thread steps.

use std::ops::Range;

use super::{EnvError, GameStats, Opening, SavedGame};
use crate::encode::Encode;
use crate::game::{Action, Game, Mask, Outcome, Player};
use crate::random::{Draws, below};

/// What a step did in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// The game ended with this step; the slot holds a new one or is idle.
    pub done: bool,
    /// It ended because it was cut off.
    pub truncated: bool,
    /// The result for White and for Black: -1, 0 or +1 where the game ended, else 0.
    pub rewards: [i8; 2],
    /// Points of White minus points of Black where the game ended, else 0.
    pub score_difference: i8,
}

/// What is kept of games beside their positions. Each costs some time in every step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// How every game came to its position.
    pub history: bool,
    /// What the game itself counts, see [`Game::events`].
    pub events: bool,
}

/// How a game came to its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<P> {
    /// The position it started from.
    pub start: P,
    /// All actions, those of the opening among them.
    pub actions: Vec<Action>,
}

/// A game that has just ended.
#[derive(Debug)]
pub struct Ended<'a, G: Game> {
    /// Where it was played.
    pub slot: usize,
    /// Its last position.
    pub position: &'a G::Position,
    /// How it ended.
    pub outcome: Outcome,
    /// How it came there, where that is kept.
    pub history: Option<&'a History<G::Position>>,
}

/// One game. The slot is idle where no action is legal.
pub(super) struct Slot<G: Game> {
    pub(super) position: G::Position,
    pub(super) legal: G::Mask, // of `position`
    pub(super) transition: Transition,
}

/// Some games, each in a slot of its own, that advance together on one thread. Slots are counted from
/// the shard's first.
///
/// A slot whose game ended gets the next one at once, or is idle: then it has no legal action and takes
/// no part in a step, until it is given a game by [`Shard::start`].
pub struct Shard<G: Game> {
    game: G,
    first: usize, // number of the first slot, over all shards
    pub(super) slots: Vec<Slot<G>>,
    pub(super) finals: Vec<Option<G::Position>>, // [slots], apart from what every step needs
    pub(super) finished: Vec<u32>,               // slots whose game ended in the last step
    histories: Vec<History<G::Position>>,        // one a slot, or none at all
    keep: Keep,
    stats: GameStats,
    steps: u64,
}

impl<G: Game> Shard<G> {
    /// The slots of these numbers, counted over all shards. `open` is asked by number how each game
    /// begins; a slot without an answer is idle.
    ///
    /// # Panics
    /// Panics if a game would begin at its end.
    pub fn new(
        game: &G,
        numbers: Range<usize>,
        keep: Keep,
        mut open: impl FnMut(usize) -> Option<Opening<G::Position>>,
    ) -> Shard<G> {
        let start = game.start();
        let idle = |_| Slot {
            position: start,
            legal: G::Mask::default(),
            transition: Transition::default(),
        };
        let history = |_| History {
            start,
            actions: Vec::new(),
        };
        let kept = if keep.history { numbers.len() } else { 0 };
        let mut shard = Shard {
            game: game.clone(),
            first: numbers.start,
            slots: numbers.clone().map(idle).collect(),
            finals: vec![None; numbers.len()],
            finished: Vec::with_capacity(numbers.len()),
            histories: (0..kept).map(history).collect(),
            keep,
            stats: GameStats::default(),
            steps: 0,
        };
        for (slot, number) in numbers.enumerate() {
            if let Some(opening) = open(number) {
                shard.start(slot, opening);
            }
        }
        shard
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The number of a slot, counted over all shards.
    pub fn number(&self, slot: usize) -> u64 {
        (self.first + slot) as u64
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The position of a game. In an idle slot it is the last one of the game that was played there.
    pub fn position(&self, slot: usize) -> &G::Position {
        &self.slots[slot].position
    }

    /// The legal actions of a game: none exactly in an idle slot.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        &self.slots[slot].legal
    }

    /// Whether no game is under way in a slot.
    pub fn is_idle(&self, slot: usize) -> bool {
        self.slots[slot].legal.is_empty()
    }

    /// How the game of a slot came to its position.
    ///
    /// # Panics
    /// Panics unless histories are kept.
    pub fn history(&self, slot: usize) -> &History<G::Position> {
        &self.histories[slot]
    }

    /// Starts another game in a slot. What the last step did there stays readable.
    ///
    /// # Panics
    /// Panics if the game would begin at its end.
    pub fn start(&mut self, index: usize, opening: Opening<G::Position>) {
        let slot = &mut self.slots[index];
        slot.position = opening.position;
        slot.legal = self.game.legal(&opening.position);
        assert!(!slot.legal.is_empty(), "a game cannot start at its end");
        if self.keep.history {
            self.histories[index] = History {
                start: opening.start,
                actions: opening.actions,
            };
        }
    }

    /// Chooses a legal action for every game, each as likely as any other, from the seed, the slot and
    /// the steps so far. Idle slots get the first action.
    pub fn sample(&self, seed: u64, out: &mut [Action]) {
        let draws = Draws::new(seed, self.steps);
        for ((slot, out), number) in self.slots.iter().zip(out).zip(self.number(0)..) {
            *out = match slot.legal.count() {
                0 => Action(0),
                count => slot.legal.nth(below(draws.bits(number), count)),
            };
        }
    }

    /// Plays one action in every game. `next` is told of each that ends, in the order of slots, and
    /// says how the next one there begins; without an answer the slot becomes idle. What stands for idle
    /// slots among the actions is ignored.
    ///
    /// # Panics
    /// Panics unless there is one legal action a game.
    pub fn step(
        &mut self,
        actions: &[Action],
        mut next: impl FnMut(Ended<'_, G>) -> Option<Opening<G::Position>>,
    ) {
        assert_eq!(actions.len(), self.slots.len(), "one action a slot");
        self.finished.clear();
        self.steps += 1;
        if self.keep != Keep::default() {
            self.note(actions);
        }
        for (index, &action) in actions.iter().enumerate() {
            let slot = &mut self.slots[index];
            slot.transition = Transition::default();
            if !slot.legal.contains(action) {
                assert!(slot.legal.is_empty(), "{action:?} is illegal");
                continue;
            }
            self.game.play(&mut slot.position, action);
            slot.legal = self.game.legal(&slot.position);
            if slot.legal.is_empty() {
                self.finish(index, &mut next);
            }
        }
    }

    /// Keeps what is to be kept of these actions, before they are played.
    fn note(&mut self, actions: &[Action]) {
        for (index, (slot, &action)) in self.slots.iter().zip(actions).enumerate() {
            if !slot.legal.contains(action) {
                continue; // an idle slot
            }
            if self.keep.events {
                let counts = &mut self.stats.events;
                self.game.count_events(&slot.position, action, counts);
            }
            if self.keep.history {
                self.histories[index].actions.push(action);
            }
        }
    }

    fn finish(
        &mut self,
        index: usize,
        next: &mut impl FnMut(Ended<'_, G>) -> Option<Opening<G::Position>>,
    ) {
        let slot = &mut self.slots[index];
        let outcome = self.game.outcome(&slot.position);
        let outcome = outcome.expect("a game without legal actions is over");
        slot.transition = Transition {
            done: true,
            truncated: outcome.truncated,
            rewards: Player::BOTH.map(|player| outcome.verdict(player).sign()),
            score_difference: outcome.score_difference(Player::White),
        };
        self.finals[index] = Some(slot.position);
        self.finished.push(index as u32);
        self.stats.count(&outcome, self.game.ply(&slot.position));
        let opening = next(Ended {
            slot: index,
            position: &slot.position,
            outcome,
            history: self.histories.get(index),
        });
        if let Some(opening) = opening {
            self.start(index, opening);
        }
    }

    /// The counts since they were taken before.
    pub fn take_stats(&mut self) -> GameStats {
        std::mem::take(&mut self.stats)
    }

    /// The games under way, slot by slot.
    ///
    /// # Panics
    /// Panics unless histories are kept.
    pub fn save(&self) -> impl Iterator<Item = Option<SavedGame>> + '_ {
        let saved = |slot| {
            let History { start, actions } = &self.histories[slot];
            SavedGame::of(&self.game, start, actions)
        };
        (0..self.len()).map(move |slot| (!self.is_idle(slot)).then(|| saved(slot)))
    }

    /// Puts saved games, one a slot, in the place of those under way, after so many steps. If one cannot
    /// go on here, all stays as it was.
    ///
    /// # Panics
    /// Panics unless there is one for each slot.
    pub fn restore(&mut self, steps: u64, games: &[Option<SavedGame>]) -> Result<(), EnvError> {
        assert_eq!(games.len(), self.len(), "one saved game a slot");
        let opening = |game: &Option<SavedGame>| {
            let saved = game.as_ref();
            saved.map(|saved| saved.opening(&self.game)).transpose()
        };
        let openings = games.iter().map(opening).collect::<Result<Vec<_>, _>>()?;
        self.steps = steps;
        for (index, opening) in openings.into_iter().enumerate() {
            match opening {
                Some(opening) => self.start(index, opening),
                None => self.slots[index].legal = G::Mask::default(),
            }
        }
        Ok(())
    }

    pub(super) fn masks(&self, out: &mut [G::Mask]) {
        for (slot, out) in self.slots.iter().zip(out) {
            *out = slot.legal;
        }
    }
}

impl<G: Encode> Shard<G> {
    /// `out` is `[games, planes x cells]`.
    pub(super) fn observe(&self, out: &mut [f32]) {
        let width = self.game.feature_count();
        for (slot, out) in self.slots.iter().zip(out.chunks_exact_mut(width)) {
            self.game.observe(&slot.position, out);
        }
    }
}
