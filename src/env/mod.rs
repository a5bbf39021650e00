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
mod shard;

use ndarray::ArrayViewMut3;
use rayon::prelude::*;

pub use measure::{EnvSpeed, EnvWork, measure};
pub use shard::Transition;
use shard::{Shard, Slot};

use crate::encode::Encode;
use crate::game::{Action, Game, Player};

/// Below this many games a thread's share is not worth handing over.
const FEWEST_PER_THREAD: usize = 128;

/// Many games of the same rules, each in a slot of its own, that advance together.
///
/// Every slot has its own random stream, so the same seed gives the same games whatever the number
/// of threads. The games are sharded over the threads of the rayon pool that the environment is made
/// in.
pub struct VecEnv<G: Game> {
    game: G,
    games: usize,
    share: usize, // games of every shard but the last, which may have fewer
    shards: Vec<Shard<G>>,
}

impl<G: Game> VecEnv<G> {
    /// `games` games at their start.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn new(game: G, games: usize, seed: u64) -> VecEnv<G> {
        assert!(games > 0, "an environment needs at least one game");
        let threads = rayon::current_num_threads();
        let share = games.div_ceil(threads).max(FEWEST_PER_THREAD).min(games);
        let shard = |first| Shard::new(&game, seed, first, share.min(games - first));
        VecEnv {
            shards: (0..games).step_by(share).map(shard).collect(),
            share,
            games,
            game,
        }
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The number of games.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one game")]
    pub fn len(&self) -> usize {
        self.games
    }

    /// How many threads can work on it at once.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Bytes of memory a game takes beside the caller's buffers.
    pub const fn slot_bytes() -> usize {
        size_of::<Slot<G>>() + size_of::<u32>() // its place in the list of finished games
    }

    /// The position of a game. Never a finished one: a finished game has restarted.
    pub fn position(&self, slot: usize) -> &G::Position {
        &self.slot(slot).position
    }

    /// Starts the game of a slot anew from this position. What the last step did there stays readable.
    ///
    /// # Panics
    /// Panics if the position is over.
    pub fn set_position(&mut self, slot: usize, position: G::Position) {
        self.shards[slot / self.share].restart(slot % self.share, position);
    }

    /// Who decides next in a game. The same player may act twice in a row.
    pub fn to_move(&self, slot: usize) -> Player {
        self.game.to_move(self.position(slot))
    }

    /// The legal actions of a game: at least one.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        &self.slot(slot).legal
    }

    /// What the last step did in a slot.
    pub fn transition(&self, slot: usize) -> Transition {
        self.slot(slot).transition
    }

    /// Writes what the last step did in every game.
    ///
    /// # Panics
    /// Panics unless `out` has one transition a game.
    pub fn transitions(&self, out: &mut [Transition]) {
        assert_eq!(out.len(), self.games, "one transition a game");
        let slots = self.shards.iter().flat_map(|shard| &shard.slots);
        for (slot, out) in slots.zip(out) {
            *out = slot.transition;
        }
    }

    /// The slots whose game ended in the last step.
    pub fn finished(&self) -> impl Iterator<Item = usize> {
        self.shards.iter().enumerate().flat_map(|(index, shard)| {
            let first = index * self.share;
            shard
                .finished
                .iter()
                .map(move |&slot| first + slot as usize)
        })
    }

    /// The last position of the game that ended latest in this slot, if any has.
    pub fn final_position(&self, slot: usize) -> Option<&G::Position> {
        self.slot(slot).last_final.as_ref()
    }

    /// Writes the legal actions of every game.
    ///
    /// # Panics
    /// Panics unless `out` has one mask a game.
    pub fn masks(&self, out: &mut [G::Mask]) {
        assert_eq!(out.len(), self.games, "one mask a game");
        match &self.shards[..] {
            [shard] => shard.masks(out),
            shards => shards
                .par_iter()
                .zip(out.par_chunks_mut(self.share))
                .for_each(|(shard, out)| shard.masks(out)),
        }
    }

    /// Chooses a legal action for every game, each as likely as any other, from the slot's stream.
    ///
    /// # Panics
    /// Panics unless `out` has one action a game.
    pub fn sample(&mut self, out: &mut [Action]) {
        assert_eq!(out.len(), self.games, "one action a game");
        match &mut self.shards[..] {
            [shard] => shard.sample(out),
            shards => shards
                .par_iter_mut()
                .zip(out.par_chunks_mut(self.share))
                .for_each(|(shard, out)| shard.sample(out)),
        }
    }

    /// Plays one action in every game; a game that ends restarts.
    ///
    /// # Panics
    /// Panics unless there is one legal action a game.
    pub fn step(&mut self, actions: &[Action]) {
        assert_eq!(actions.len(), self.games, "one action a game");
        match &mut self.shards[..] {
            [shard] => shard.step(actions),
            shards => shards
                .par_iter_mut()
                .zip(actions.par_chunks(self.share))
                .for_each(|(shard, actions)| shard.step(actions)),
        }
    }

    #[inline]
    fn slot(&self, slot: usize) -> &Slot<G> {
        &self.shards[slot / self.share].slots[slot % self.share]
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
            self.games * width,
            "one number a feature and game"
        );
        match &self.shards[..] {
            [shard] => shard.observe(out),
            shards => shards
                .par_iter()
                .zip(out.par_chunks_mut(self.share * width))
                .for_each(|(shard, out)| shard.observe(out)),
        }
    }

    /// Writes the features of every game into an array of shape `[games, planes, cells]`.
    ///
    /// # Panics
    /// Panics unless `out` has that shape and lies in standard order without gaps.
    pub fn observe(&self, mut out: ArrayViewMut3<'_, f32>) {
        let shape = [self.games, self.game.planes(), self.game.cells()];
        assert_eq!(out.shape(), shape, "games, planes, cells");
        let numbers = out.as_slice_mut().expect("a standard layout without gaps");
        self.observe_flat(numbers);
    }
}
