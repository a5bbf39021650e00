//! A run of games that one thread advances.

use rand::Rng;

use crate::encode::Encode;
use crate::game::{Action, Game, Mask, Player};
use crate::random::{Stream, any_of, stream};

/// What a step did in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// The game ended with this step; the slot holds a new one.
    pub done: bool,
    /// It ended because it was cut off.
    pub truncated: bool,
    /// The result for White and for Black: -1, 0 or +1 where the game ended, else 0.
    pub rewards: [i8; 2],
    /// Points of White minus points of Black where the game ended, else 0.
    pub score_difference: i8,
}

/// One game.
pub(super) struct Slot<G: Game> {
    pub(super) position: G::Position,
    pub(super) legal: G::Mask, // of `position`
    pub(super) transition: Transition,
    stream: Stream,
    pub(super) last_final: Option<G::Position>,
}

/// Some games in a row. Slots are counted from the shard's first.
pub(super) struct Shard<G: Game> {
    game: G,
    pub(super) slots: Vec<Slot<G>>,
    pub(super) finished: Vec<u32>, // slots whose game ended in the last step
}

impl<G: Game> Shard<G> {
    /// The games number `first` to `first + games - 1` of a seed.
    pub(super) fn new(game: &G, seed: u64, first: usize, games: usize) -> Shard<G> {
        let position = game.start();
        let slot = |index| Slot {
            position,
            legal: game.legal(&position),
            transition: Transition::default(),
            stream: stream(seed, index as u64),
            last_final: None,
        };
        Shard {
            game: game.clone(),
            slots: (first..first + games).map(slot).collect(),
            finished: Vec::with_capacity(games),
        }
    }

    pub(super) fn restart(&mut self, slot: usize, position: G::Position) {
        let slot = &mut self.slots[slot];
        slot.position = position;
        slot.legal = self.game.legal(&position);
        assert!(!slot.legal.is_empty(), "a game cannot start at its end");
    }

    pub(super) fn masks(&self, out: &mut [G::Mask]) {
        for (slot, out) in self.slots.iter().zip(out) {
            *out = slot.legal;
        }
    }

    pub(super) fn sample(&mut self, out: &mut [Action]) {
        for (slot, out) in self.slots.iter_mut().zip(out) {
            *out = any_of(&slot.legal, slot.stream.next_u64());
        }
    }

    pub(super) fn step(&mut self, actions: &[Action]) {
        self.finished.clear();
        for (index, &action) in actions.iter().enumerate() {
            let slot = &mut self.slots[index];
            assert!(slot.legal.contains(action), "{action:?} is illegal");
            self.game.play(&mut slot.position, action);
            slot.legal = self.game.legal(&slot.position);
            slot.transition = Transition::default();
            if slot.legal.is_empty() {
                self.finish(index);
            }
        }
    }

    fn finish(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let outcome = self.game.outcome(&slot.position);
        let outcome = outcome.expect("a game without legal actions is over");
        slot.transition = Transition {
            done: true,
            truncated: outcome.truncated,
            rewards: Player::BOTH.map(|player| outcome.verdict(player).sign()),
            score_difference: outcome.score_difference(Player::White),
        };
        slot.last_final = Some(slot.position);
        self.finished.push(index as u32);
        self.restart(index, self.game.start());
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
