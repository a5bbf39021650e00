//! The games that one thread steps.

use std::ops::Range;

use super::{EnvError, GameStats, Opening, SavedGame};
use crate::encode::Encode;
use crate::game::{Action, Game, Mask, Outcome, Player};
use crate::random::{Draws, below};

/// The result of a step in one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// The game ended with this step. The slot now has a new game or is idle.
    pub done: bool,
    /// The game was cut off.
    pub truncated: bool,
    /// Results of White and Black, -1, 0 or +1; 0 if the game has not ended.
    pub rewards: [i8; 2],
    /// Points of White minus points of Black; 0 if the game has not ended.
    pub score_difference: i8,
}

/// What an environment records besides positions. Each costs some time in every step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The start position and actions of every unfinished game.
    pub history: bool,
    /// The counts of the game's events, see [`Game::events`].
    pub events: bool,
}

/// The start position and actions of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<P> {
    /// The start position.
    pub start: P,
    /// All actions, including those of the opening.
    pub actions: Vec<Action>,
}

/// A game that has just ended.
#[derive(Debug)]
pub struct FinishedGame<'a, G: Game> {
    /// Its slot.
    pub slot: usize,
    /// The final position.
    pub position: &'a G::Position,
    /// The outcome.
    pub outcome: Outcome,
    /// The history, if recorded.
    pub history: Option<&'a History<G::Position>>,
}

/// One slot. It is idle exactly if no action is legal.
pub(super) struct Slot<G: Game> {
    pub(super) position: G::Position,
    pub(super) legal: G::Mask, // of `position`
    pub(super) transition: Transition,
}

/// Games that advance together on one thread, each in its own slot. Slot indices start at 0 in each shard.
///
/// When a game ends, its slot gets the next one at once or becomes idle. An idle slot has no legal actions
/// and is skipped by steps until [`Shard::start`] gives it a game.
pub struct Shard<G: Game> {
    game: G,
    first: usize, // index of the first slot in the whole environment
    pub(super) slots: Vec<Slot<G>>,
    pub(super) finals: Vec<Option<G::Position>>, // [slots]; kept apart because not every step needs them
    pub(super) finished: Vec<u32>,               // slots whose games ended in the last step
    histories: Vec<History<G::Position>>,        // [slots], or empty if not recorded
    keep: Keep,
    stats: GameStats,
    steps: u64,
}

impl<G: Game> Shard<G> {
    /// Makes the slots with these numbers, which count over all shards. `open` gives the opening of the game
    /// with a number; `None` leaves the slot idle.
    ///
    /// # Panics
    /// Panics if a game is over after its opening.
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

    /// Whether the shard has no slots.
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

    /// The position of a game. In an idle slot: the final position of the last game.
    pub fn position(&self, slot: usize) -> &G::Position {
        &self.slots[slot].position
    }

    /// The legal actions of a game: empty exactly in idle slots.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        &self.slots[slot].legal
    }

    /// Whether a slot has no game.
    pub fn is_idle(&self, slot: usize) -> bool {
        self.slots[slot].legal.is_empty()
    }

    /// The start position and actions of the game in a slot.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn history(&self, slot: usize) -> &History<G::Position> {
        &self.histories[slot]
    }

    /// Starts another game in a slot. The transition of the last step is kept.
    ///
    /// # Panics
    /// Panics if the game is over after the opening.
    pub fn start(&mut self, index: usize, opening: Opening<G::Position>) {
        let slot = &mut self.slots[index];
        slot.position = opening.position;
        slot.legal = self.game.legal(&opening.position);
        assert!(!slot.legal.is_empty(), "the game is over after its opening");
        if self.keep.history {
            self.histories[index] = History {
                start: opening.start,
                actions: opening.actions,
            };
        }
    }

    /// Chooses a legal action for every game, uniformly at random from seed, slot and step. Idle slots get
    /// action 0.
    pub fn sample(&self, seed: u64, out: &mut [Action]) {
        let draws = Draws::new(seed, self.steps);
        for ((slot, out), number) in self.slots.iter().zip(out).zip(self.number(0)..) {
            *out = match slot.legal.count() {
                0 => Action(0),
                count => slot.legal.nth(below(draws.bits(number), count)),
            };
        }
    }

    /// Plays one action in every game. Calls `next` for each game that ends, in the order of slots; it
    /// returns the opening of the next game in that slot, or `None` to leave the slot idle. Actions for idle
    /// slots are ignored.
    ///
    /// # Panics
    /// Panics unless there is one legal action per game.
    pub fn step(
        &mut self,
        actions: &[Action],
        mut next: impl FnMut(FinishedGame<'_, G>) -> Option<Opening<G::Position>>,
    ) {
        assert_eq!(actions.len(), self.slots.len(), "one action per slot");
        self.finished.clear();
        self.steps += 1;
        if self.keep != Keep::default() {
            for (index, &action) in actions.iter().enumerate() {
                self.record(index, action);
            }
        }
        for (index, &action) in actions.iter().enumerate() {
            self.advance(index, action, &mut next);
        }
    }

    /// Plays one action in each of some games while the others wait, for example the replies of an opponent.
    /// This belongs to the last step and is not counted as another one. Actions for idle slots are ignored, and
    /// `next` is called as in [`Shard::step`].
    ///
    /// # Panics
    /// Panics if an action is illegal.
    pub fn step_some(
        &mut self,
        actions: impl IntoIterator<Item = (usize, Action)>,
        mut next: impl FnMut(FinishedGame<'_, G>) -> Option<Opening<G::Position>>,
    ) {
        for (index, action) in actions {
            self.record(index, action);
            self.advance(index, action, &mut next);
        }
    }

    #[inline]
    fn advance(
        &mut self,
        index: usize,
        action: Action,
        next: &mut impl FnMut(FinishedGame<'_, G>) -> Option<Opening<G::Position>>,
    ) {
        let slot = &mut self.slots[index];
        slot.transition = Transition::default();
        if !slot.legal.contains(action) {
            assert!(slot.legal.is_empty(), "{action:?} is illegal");
            return;
        }
        self.game.play(&mut slot.position, action);
        slot.legal = self.game.legal(&slot.position);
        if slot.legal.is_empty() {
            self.finish(index, next);
        }
    }

    /// Records the events and the history of an action, before it is played.
    #[inline]
    fn record(&mut self, index: usize, action: Action) {
        let slot = &self.slots[index];
        if !slot.legal.contains(action) {
            return; // an idle slot
        }
        if self.keep.events {
            let counts = &mut self.stats.events;
            self.game.count_events(&slot.position, action, counts);
        }
        if self.keep.history {
            self.histories[index].actions.push(action);
        }
    }

    fn finish(
        &mut self,
        index: usize,
        next: &mut impl FnMut(FinishedGame<'_, G>) -> Option<Opening<G::Position>>,
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
        let opening = next(FinishedGame {
            slot: index,
            position: &slot.position,
            outcome,
            history: self.histories.get(index),
        });
        if let Some(opening) = opening {
            self.start(index, opening);
        }
    }

    /// Returns the counts since the last call.
    pub fn take_stats(&mut self) -> GameStats {
        std::mem::take(&mut self.stats)
    }

    /// The unfinished games, slot by slot.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn save(&self) -> impl Iterator<Item = Option<SavedGame>> + '_ {
        let saved = |slot| {
            let History { start, actions } = &self.histories[slot];
            SavedGame::of(&self.game, start, actions)
        };
        (0..self.len()).map(move |slot| (!self.is_idle(slot)).then(|| saved(slot)))
    }

    /// Replaces the games by saved ones and sets the number of steps. On an error nothing changes.
    ///
    /// # Panics
    /// Panics unless there is one entry per slot.
    pub fn restore(&mut self, steps: u64, games: &[Option<SavedGame>]) -> Result<(), EnvError> {
        assert_eq!(games.len(), self.len(), "one saved game per slot");
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
