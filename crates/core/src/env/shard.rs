//! The games that one thread steps.

use std::ops::Range;

use super::log::Log;
use super::saved::{SavedGame, game_error};
use super::settings::Keep;
use super::{GameStats, Line};
use crate::error::FileError;
use crate::game::{Action, Game, Mask, Outcome};
use crate::random::{Draws, below};

/// A game that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<P> {
    /// The slot that it was played in.
    pub slot: usize,
    /// The final position.
    pub position: P,
    /// The outcome.
    pub outcome: Outcome,
}

/// A slot. It is idle exactly if no action is legal.
#[derive(Clone)]
pub(super) struct Slot<G: Game> {
    pub(super) position: G::Position,
    pub(super) legal: G::Mask, // the legal actions in `position`; none if the slot is idle
}

/// Games that one thread steps together, each in a slot of its own. Slot indices start at 0 in each shard, slot
/// *numbers* count over all shards of an environment.
///
/// When a game ends, its slot gets the next game at once or becomes idle. An idle slot has no legal actions, and
/// steps skip it until [`Shard::start`] gives it a game.
#[derive(Clone)]
pub struct Shard<G: Game> {
    game: G,
    first: usize, // the number of the first slot
    pub(super) slots: Vec<Slot<G>>,
    log: Option<Log<G::Position>>,
    events: bool,
    stats: GameStats,
    steps: u64,
}

impl<G: Game> Shard<G> {
    /// Makes the slots with these numbers. `open` returns the opening of the game with a number; `None` leaves the
    /// slot idle.
    ///
    /// # Panics
    /// Panics if a game is over after its opening.
    pub fn new(
        game: &G,
        numbers: Range<usize>,
        keep: Keep,
        mut open: impl FnMut(usize) -> Option<Line<G::Position>>,
    ) -> Shard<G> {
        let idle = Slot { position: game.start(), legal: G::Mask::default() };
        let mut shard = Shard {
            game: game.clone(),
            first: numbers.start,
            slots: vec![idle; numbers.len()],
            log: keep.history.then(|| Log::new(numbers.len())),
            events: keep.events,
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

    /// The rules of the games.
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

    /// The number of a slot, counted over all shards of an environment.
    pub fn number(&self, slot: usize) -> u64 {
        (self.first + slot) as u64
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The position in a slot. If the slot is idle, it is the final position of the last game.
    pub fn position(&self, slot: usize) -> &G::Position {
        &self.slots[slot].position
    }

    /// The legal actions in a slot; none exactly if the slot is idle.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        &self.slots[slot].legal
    }

    /// Whether a slot has no game.
    pub fn is_idle(&self, slot: usize) -> bool {
        self.slots[slot].legal.is_empty()
    }

    /// The game in a slot from its start. The slot must not be idle.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn history(&self, slot: usize) -> Line<G::Position> {
        self.log.as_ref().expect("histories are kept").history(&self.game, slot, *self.position(slot))
    }

    /// Starts another game in a slot.
    ///
    /// # Panics
    /// Panics if the game is over after the opening.
    pub fn start(&mut self, index: usize, opening: Line<G::Position>) {
        let slot = &mut self.slots[index];
        slot.position = opening.position;
        slot.legal = self.game.legal(&opening.position);
        assert!(!slot.legal.is_empty(), "the game is over after its opening");
        if let Some(log) = &mut self.log {
            log.begin(&self.game, index, opening);
        }
    }

    /// Makes a slot idle.
    fn end(&mut self, index: usize) {
        self.slots[index].legal = G::Mask::default();
        if let Some(log) = &mut self.log {
            log.end(index);
        }
    }

    /// Chooses a legal action for every game, uniformly at random. The choice depends on seed, slot and step. Idle
    /// slots get action 0.
    pub fn sample(&self, seed: u64, out: &mut [Action]) {
        let draws = Draws::new(seed, self.steps);
        self.sample_by(|number| draws.bits(number), out);
    }

    /// [`Shard::sample`] with random bits that the caller derives from the number of a slot.
    pub(super) fn sample_by(&self, bits: impl Fn(u64) -> u64, out: &mut [Action]) {
        for ((slot, out), number) in self.slots.iter().zip(out).zip(self.number(0)..) {
            *out = match slot.legal.count() {
                0 => Action(0),
                count => slot.legal.nth(below(bits(number), count)),
            };
        }
    }

    /// Plays one action in every game; actions for idle slots are ignored. For each game that ends, in the order of
    /// slots, calls `next` with the shard as it is then. `next` returns the opening of the next game in that slot, or
    /// `None` to leave the slot idle.
    ///
    /// # Panics
    /// Panics unless there is one legal action per game.
    pub fn step(
        &mut self,
        actions: &[Action],
        mut next: impl FnMut(Finished<G::Position>, &Self) -> Option<Line<G::Position>>,
    ) {
        assert_eq!(actions.len(), self.slots.len(), "one action per slot");
        self.steps += 1;
        if let Some(log) = &mut self.log {
            log.push(actions);
        }
        if self.events {
            for (index, &action) in actions.iter().enumerate() {
                self.count_events(index, action);
            }
        }
        for (index, &action) in actions.iter().enumerate() {
            self.advance(index, action, &mut next);
        }
    }

    /// Plays one action in some of the games, for example the opponent's reply, while the others wait. They belong to
    /// the last step, so the number of steps does not change. Actions for idle slots are ignored, and `next` is called
    /// as in [`Shard::step`].
    ///
    /// # Panics
    /// Panics if an action is illegal.
    pub fn step_some(
        &mut self,
        actions: &[(usize, Action)],
        mut next: impl FnMut(Finished<G::Position>, &Self) -> Option<Line<G::Position>>,
    ) {
        if let Some(log) = &mut self.log {
            log.push_some(actions);
        }
        for &(index, action) in actions {
            if self.events {
                self.count_events(index, action);
            }
            self.advance(index, action, &mut next);
        }
    }

    #[inline]
    fn advance(
        &mut self,
        index: usize,
        action: Action,
        next: &mut impl FnMut(Finished<G::Position>, &Self) -> Option<Line<G::Position>>,
    ) {
        let slot = &mut self.slots[index];
        if slot.legal.is_empty() {
            return; // an idle slot, whose action may be any number
        }
        assert!(slot.legal.contains(action), "{action:?} is illegal");
        self.game.play(&mut slot.position, action);
        slot.legal = self.game.legal(&slot.position);
        if slot.legal.is_empty() {
            self.finish(index, next);
        }
    }

    /// Counts the events of an action. Must be called before the action is played.
    #[inline]
    fn count_events(&mut self, index: usize, action: Action) {
        let slot = &self.slots[index];
        // Steps ignore the action of an idle slot.
        if !slot.legal.is_empty() && slot.legal.contains(action) {
            let counts = &mut self.stats.events;
            self.game.count_events(&slot.position, action, counts);
        }
    }

    fn finish(
        &mut self,
        index: usize,
        next: &mut impl FnMut(Finished<G::Position>, &Self) -> Option<Line<G::Position>>,
    ) {
        let position = self.slots[index].position;
        let outcome = self.game.outcome(&position).expect("a game without legal actions is over");
        self.stats.count(&outcome, self.game.ply(&position));
        let ended = Finished { slot: index, position, outcome };
        match next(ended, self) {
            Some(opening) => self.start(index, opening),
            None => self.end(index),
        }
    }

    /// Returns the counts since the last call of this function.
    pub fn take_stats(&mut self) -> GameStats {
        std::mem::take(&mut self.stats)
    }

    /// The unfinished games, one entry per slot; `None` for idle slots.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn save(&self) -> impl Iterator<Item = Option<SavedGame>> + '_ {
        let saved = |slot| SavedGame::of(&self.game, &self.history(slot));
        (0..self.len()).map(move |slot| (!self.is_idle(slot)).then(|| saved(slot)))
    }

    /// Replaces the games by saved ones and sets the number of steps. On an error nothing changes.
    ///
    /// # Panics
    /// Panics unless there is one entry per slot.
    pub fn restore(&mut self, steps: u64, games: &[Option<SavedGame>]) -> Result<(), FileError> {
        assert_eq!(games.len(), self.len(), "one saved game per slot");
        let opening = |game: &Option<SavedGame>| {
            let saved = game.as_ref();
            saved.map(|saved| saved.line(&self.game)).transpose()
        };
        let openings = games.iter().map(opening).collect::<Result<Vec<_>, _>>()?;
        self.steps = steps;
        for (index, opening) in openings.into_iter().enumerate() {
            match opening {
                Some(opening) => self.start(index, opening),
                None => self.end(index),
            }
        }
        Ok(())
    }

    /// Plays a finished game again. Returns all its positions, its outcome and its counts of events. Fails if the game
    /// breaks the rules or is not over.
    pub fn replay(game: &G, saved: &SavedGame) -> Result<(Vec<G::Position>, Outcome, GameStats), FileError> {
        let start = saved.start_position(game)?;
        if game.outcome(&start).is_some() {
            return Err(game_error("the game is over at its start"));
        }
        let mut env = Shard::new(game, 0..1, Keep { history: false, events: true }, |_| Some(Line::at(start)));
        let (mut positions, mut outcome) = (vec![start], None);
        for &action in &saved.actions {
            let mut after = *env.position(0);
            game.try_play(&mut after, Action(action)).map_err(game_error)?;
            env.step(&[Action(action)], |ended, _| {
                outcome = Some(ended.outcome);
                None
            });
            positions.push(after);
        }
        let outcome = outcome.ok_or_else(|| game_error("the game is not over"))?;
        Ok((positions, outcome, env.take_stats()))
    }
}
