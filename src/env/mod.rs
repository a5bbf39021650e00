//! Thousands of games in lockstep: observe, mask, step, restart. The environment owns no policy.
//!
//! ```
//! use jarmo::env::VecEnv;
//! use jarmo::game::Action;
//! use jarmo::games::Jarmo;
//!
//! let mut env = VecEnv::new(Jarmo::standard(), 64, 7);
//! let mut actions = vec![Action(0); env.len()];
//! let mut finished = 0;
//! for _ in 0..300 {
//!     env.sample(&mut actions); // or a policy's choice among env.legal(slot)
//!     env.step(&actions);
//!     finished += env.finished().count();
//! }
//! assert!(finished > 64);
//! ```

mod measure;
mod slot;

use ndarray::ArrayViewMut3;
use rayon::prelude::*;

pub use measure::{EnvSpeed, EnvWork, measure};
pub use slot::Transition;

use crate::encode::Encode;
use crate::game::{Action, Game, Player};
use slot::Slot;

/// Below this many games a thread's share is not worth handing over.
const FEWEST_PER_THREAD: usize = 128;

/// Many games of the same rules, each in a slot of its own, that advance together.
///
/// Every slot has its own random stream, so the same seed gives the same games whatever the number
/// of threads. The work is spread over the threads of the current rayon pool.
pub struct VecEnv<G: Game> {
    game: G,
    slots: Vec<Slot<G>>,
}

impl<G: Game> VecEnv<G> {
    /// `games` games at their start.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn new(game: G, games: usize, seed: u64) -> VecEnv<G> {
        assert!(games > 0, "an environment needs at least one game");
        let slots = (0..games as u64)
            .map(|index| Slot::new(&game, seed, index))
            .collect();
        VecEnv { game, slots }
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The number of games.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one game")]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of memory a game takes beside the caller's buffers.
    pub const fn slot_bytes() -> usize {
        size_of::<Slot<G>>()
    }

    /// The position of a game. Never a finished one: a finished game has restarted.
    pub fn position(&self, slot: usize) -> &G::Position {
        &self.slots[slot].position
    }

    /// Starts the game of a slot anew from this position.
    ///
    /// # Panics
    /// Panics if the position is over.
    pub fn set_position(&mut self, slot: usize, position: G::Position) {
        self.slots[slot].restart(&self.game, position);
    }

    /// Who decides next in a game. The same player may act twice in a row.
    pub fn to_move(&self, slot: usize) -> Player {
        self.game.to_move(&self.slots[slot].position)
    }

    /// The legal actions of a game: at least one.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        &self.slots[slot].legal
    }

    /// What the last step did in a slot.
    pub fn transition(&self, slot: usize) -> Transition {
        self.slots[slot].transition
    }

    /// The slots whose game ended in the last step.
    pub fn finished(&self) -> impl Iterator<Item = usize> {
        let ended = |(index, slot): (usize, &Slot<G>)| slot.transition.done.then_some(index);
        self.slots.iter().enumerate().filter_map(ended)
    }

    /// The last position of the game that ended latest in this slot, if any has.
    pub fn final_position(&self, slot: usize) -> Option<&G::Position> {
        self.slots[slot].last_final.as_ref()
    }

    /// Writes the legal actions of every game.
    ///
    /// # Panics
    /// Panics unless `out` has one mask a game.
    pub fn masks(&self, out: &mut [G::Mask]) {
        assert_eq!(out.len(), self.len(), "one mask a game");
        let share = self.share();
        let write = |(slots, out): (&[Slot<G>], &mut [G::Mask])| {
            for (slot, out) in slots.iter().zip(out) {
                *out = slot.legal;
            }
        };
        if share == self.len() {
            write((&self.slots, out));
        } else {
            let chunks = self.slots.par_chunks(share);
            chunks.zip(out.par_chunks_mut(share)).for_each(write);
        }
    }

    /// Chooses a legal action for every game, each as likely as any other, from the slot's stream.
    ///
    /// # Panics
    /// Panics unless `out` has one action a game.
    pub fn sample(&mut self, out: &mut [Action]) {
        assert_eq!(out.len(), self.len(), "one action a game");
        let share = self.share();
        let choose = |(slots, out): (&mut [Slot<G>], &mut [Action])| {
            for (slot, out) in slots.iter_mut().zip(out) {
                *out = slot.sample();
            }
        };
        if share == self.len() {
            choose((&mut self.slots, out));
        } else {
            let chunks = self.slots.par_chunks_mut(share);
            chunks.zip(out.par_chunks_mut(share)).for_each(choose);
        }
    }

    /// Plays one action in every game; a game that ends restarts.
    ///
    /// # Panics
    /// Panics unless there is one legal action a game.
    pub fn step(&mut self, actions: &[Action]) {
        assert_eq!(actions.len(), self.len(), "one action a game");
        let share = self.share();
        let game = &self.game;
        let play = |(slots, actions): (&mut [Slot<G>], &[Action])| {
            for (slot, &action) in slots.iter_mut().zip(actions) {
                slot.step(game, action);
            }
        };
        if share == self.slots.len() {
            play((&mut self.slots, actions));
        } else {
            let chunks = self.slots.par_chunks_mut(share);
            chunks.zip(actions.par_chunks(share)).for_each(play);
        }
    }

    /// Games a thread takes at a time: all of them if they are few or there is one thread.
    fn share(&self) -> usize {
        let threads = rayon::current_num_threads();
        if threads == 1 || self.len() < 2 * FEWEST_PER_THREAD {
            self.len()
        } else {
            self.len().div_ceil(threads).max(FEWEST_PER_THREAD)
        }
    }
}

impl<G: Encode> VecEnv<G> {
    /// Writes the features of every game, `[games, planes x cells]` one after another.
    ///
    /// # Panics
    /// Panics unless `out` has that many numbers.
    pub fn observe_flat(&self, out: &mut [f32]) {
        let width = self.game.feature_count();
        assert_eq!(
            out.len(),
            self.len() * width,
            "one number a feature and game"
        );
        let share = self.share();
        let write = |(slots, out): (&[Slot<G>], &mut [f32])| {
            for (slot, out) in slots.iter().zip(out.chunks_exact_mut(width)) {
                self.game.observe(&slot.position, out);
            }
        };
        if share == self.len() {
            write((&self.slots, out));
        } else {
            let chunks = self.slots.par_chunks(share);
            chunks
                .zip(out.par_chunks_mut(share * width))
                .for_each(write);
        }
    }

    /// Writes the features of every game into an array of shape `[games, planes, cells]`.
    ///
    /// # Panics
    /// Panics unless `out` has that shape and lies in standard order without gaps.
    pub fn observe(&self, mut out: ArrayViewMut3<'_, f32>) {
        let shape = [self.len(), self.game.planes(), self.game.cells()];
        assert_eq!(out.shape(), shape, "games, planes, cells");
        let numbers = out.as_slice_mut().expect("a standard layout without gaps");
        self.observe_flat(numbers);
    }
}
