//! Steps thousands of games in lockstep: observe, mask, step, restart. Actions come from the caller.
//!
//! ```
//! use jarmo_core::env::VecEnv;
//! use jarmo_core::game::Action;
//! use jarmo_core::games::Jarmo;
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

mod opening;
mod saved;
mod shard;
mod stats;

use ndarray::ArrayViewMut3;
use rayon::prelude::*;

pub use opening::{Opening, positions};
pub use saved::{EnvError, EnvState, PlayedGame, SavedGame};
use shard::Slot;
pub use shard::{FinishedGame, History, Keep, Shard, Transition};
pub use stats::GameStats;

use crate::encode::Encode;
use crate::game::{Action, Game, Player};
use crate::random::{Stream, slot_stream};

/// A shard has at least this many games. With fewer, handing it to a thread costs more than it saves.
const MIN_PER_THREAD: usize = 128;

/// Many games of the same rules that advance together, each in its own slot.
///
/// All random numbers are derived from seed, slot and step, so the same seed gives the same games on any
/// number of threads. The games are sharded over the threads of the current rayon pool. If each thread has
/// its own evaluator or agents, let each thread step its own [`Shard`] instead.
pub struct VecEnv<G: Game> {
    game: G,
    seed: u64,
    games: usize,
    share: usize, // games per shard; the last shard may have fewer
    shards: Vec<Shard<G>>,
    openings: Box<OpeningFn<G::Position>>,
}

/// The opening of a new game; `None` leaves the slot idle.
type OpeningFn<P> = dyn Fn(NewGame) -> Option<Opening<P>> + Send + Sync;

/// A game that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct NewGame {
    /// The slot of the game.
    pub slot: usize,
    /// Steps of the environment before the game.
    pub step: u64,
    seed: u64,
}

impl NewGame {
    /// The random stream for the opening.
    pub fn stream(&self) -> Stream {
        // The seed is inverted because `sample` uses the seed itself.
        slot_stream(!self.seed, self.slot as u64, self.step)
    }
}

impl<G: Game> VecEnv<G> {
    /// `games` games at the start position. When a game ends, another one starts in its slot.
    ///
    /// # Panics
    /// Panics if `games` is 0.
    pub fn new(game: G, games: usize, seed: u64) -> VecEnv<G> {
        let start = game.start();
        let openings = move |_| Some(Opening::at(start));
        VecEnv::with_openings(game, games, seed, Keep::default(), openings)
    }

    /// `games` slots. `openings` gives the opening of each game, at first and after each end; `None` leaves
    /// the slot idle.
    ///
    /// ```
    /// use jarmo_core::env::{Keep, Opening, VecEnv};
    /// use jarmo_core::game::Action;
    /// use jarmo_core::games::ConnectFour;
    ///
    /// // One game in each slot, after two random plies.
    /// let game = ConnectFour::new(0);
    /// let rules = game.clone();
    /// let mut env = VecEnv::with_openings(game, 10, 1, Keep::default(), move |new| {
    ///     (new.step == 0).then(|| Opening::random(&rules, 2, &mut new.stream()))
    /// });
    /// let mut actions = [Action(0); 10];
    /// while (0..10).any(|slot| !env.is_idle(slot)) {
    ///     env.sample(&mut actions);
    ///     env.step(&actions);
    /// }
    /// assert_eq!(env.take_stats().games, 10);
    /// ```
    ///
    /// # Panics
    /// Panics if `games` is 0.
    pub fn with_openings(
        game: G,
        games: usize,
        seed: u64,
        keep: Keep,
        openings: impl Fn(NewGame) -> Option<Opening<G::Position>> + Send + Sync + 'static,
    ) -> VecEnv<G> {
        assert!(games > 0, "an environment needs at least one game");
        let threads = rayon::current_num_threads();
        let share = games.div_ceil(threads).max(MIN_PER_THREAD).min(games);
        let open = |slot| {
            let step = 0;
            openings(NewGame { slot, step, seed })
        };
        let shard = |first| Shard::new(&game, first..games.min(first + share), keep, open);
        VecEnv {
            shards: (0..games).step_by(share).map(shard).collect(),
            openings: Box::new(openings),
            share,
            games,
            seed,
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

    /// The number of shards, each stepped by one thread at a time.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Bytes of memory per game, without the caller's buffers.
    pub const fn slot_bytes() -> usize {
        let finished = size_of::<u32>(); // its entry in the list
        size_of::<Slot<G>>() + size_of::<Option<G::Position>>() + finished
    }

    /// The position of a game, which is never over. In an idle slot: the final position of the last game.
    pub fn position(&self, slot: usize) -> &G::Position {
        &self.slot(slot).position
    }

    /// Whether a slot has no game. Steps skip idle slots.
    pub fn is_idle(&self, slot: usize) -> bool {
        self.shard(slot).is_idle(slot % self.share)
    }

    /// Starts another game in a slot. The transition of the last step is kept.
    ///
    /// # Panics
    /// Panics if the game is over after the opening.
    pub fn start(&mut self, slot: usize, opening: Opening<G::Position>) {
        self.shards[slot / self.share].start(slot % self.share, opening);
    }

    /// The start position and actions of the game in a slot.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn history(&self, slot: usize) -> &History<G::Position> {
        self.shard(slot).history(slot % self.share)
    }

    /// The player to move in a game. The same player may act twice in a row.
    pub fn to_move(&self, slot: usize) -> Player {
        self.game.to_move(self.position(slot))
    }

    /// The legal actions of a game: empty exactly in idle slots.
    pub fn legal(&self, slot: usize) -> &G::Mask {
        &self.slot(slot).legal
    }

    /// The result of the last step in a slot.
    pub fn transition(&self, slot: usize) -> Transition {
        self.slot(slot).transition
    }

    /// Writes the result of the last step in every slot.
    ///
    /// # Panics
    /// Panics unless `out` has one transition per game.
    pub fn transitions(&self, out: &mut [Transition]) {
        assert_eq!(out.len(), self.games, "one transition per game");
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

    /// The final position of the last game that ended in this slot, if any.
    pub fn final_position(&self, slot: usize) -> Option<&G::Position> {
        self.shard(slot).finals[slot % self.share].as_ref()
    }

    /// Writes the legal actions of every game.
    ///
    /// # Panics
    /// Panics unless `out` has one mask per game.
    pub fn masks(&self, out: &mut [G::Mask]) {
        assert_eq!(out.len(), self.games, "one mask per game");
        match &self.shards[..] {
            [shard] => shard.masks(out),
            shards => shards
                .par_iter()
                .zip(out.par_chunks_mut(self.share))
                .for_each(|(shard, out)| shard.masks(out)),
        }
    }

    /// Chooses a legal action for every game, uniformly at random. Repeated calls choose the same actions
    /// until the next step. Idle slots get action 0.
    ///
    /// # Panics
    /// Panics unless `out` has one action per game.
    pub fn sample(&self, out: &mut [Action]) {
        assert_eq!(out.len(), self.games, "one action per game");
        let seed = self.seed;
        match &self.shards[..] {
            [shard] => shard.sample(seed, out),
            shards => shards
                .par_iter()
                .zip(out.par_chunks_mut(self.share))
                .for_each(|(shard, out)| shard.sample(seed, out)),
        }
    }

    /// Plays one action in every game. When a game ends, another one starts or the slot becomes idle.
    /// Actions for idle slots are ignored.
    ///
    /// # Panics
    /// Panics unless there is one legal action per game.
    pub fn step(&mut self, actions: &[Action]) {
        assert_eq!(actions.len(), self.games, "one action per game");
        let (seed, openings) = (self.seed, &self.openings);
        let step = |shard: &mut Shard<G>, actions: &[Action]| {
            let (first, step) = (shard.number(0) as usize, shard.steps() + 1);
            shard.step(actions, |ended| {
                let slot = first + ended.slot;
                openings(NewGame { slot, step, seed })
            });
        };
        match &mut self.shards[..] {
            [shard] => step(shard, actions),
            shards => shards
                .par_iter_mut()
                .zip(actions.par_chunks(self.share))
                .for_each(|(shard, actions)| step(shard, actions)),
        }
    }

    /// Returns the counts since the last call.
    pub fn take_stats(&mut self) -> GameStats {
        let mut all = GameStats::default();
        for shard in &mut self.shards {
            all.add(&shard.take_stats());
        }
        all
    }

    /// The unfinished games.
    ///
    /// # Panics
    /// Panics unless [`Keep::history`] is set.
    pub fn save(&self) -> EnvState {
        EnvState {
            steps: self.shards[0].steps(),
            games: self.shards.iter().flat_map(Shard::save).collect(),
        }
    }

    /// Replaces the games by saved ones. With the same seed and openings they continue exactly as if they
    /// had not been interrupted.
    ///
    /// # Panics
    /// Panics unless there is one entry per slot.
    pub fn restore(&mut self, state: &EnvState) -> Result<(), EnvError> {
        assert_eq!(state.games.len(), self.games, "one saved game per slot");
        let games = state.games.chunks(self.share);
        for (shard, games) in self.shards.iter_mut().zip(games) {
            shard.restore(state.steps, games)?;
        }
        Ok(())
    }

    fn shard(&self, slot: usize) -> &Shard<G> {
        &self.shards[slot / self.share]
    }

    #[inline]
    fn slot(&self, slot: usize) -> &Slot<G> {
        &self.shards[slot / self.share].slots[slot % self.share]
    }
}

impl<G: Encode> VecEnv<G> {
    /// Writes the features of every game: `[games, planes x cells]`, row by row.
    ///
    /// # Panics
    /// Panics unless `out` has that many numbers.
    pub fn observe_flat(&self, out: &mut [f32]) {
        let width = self.game.feature_count();
        assert_eq!(
            out.len(),
            self.games * width,
            "one number per feature and game"
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
    /// Panics unless `out` has that shape and is contiguous in standard layout.
    pub fn observe(&self, mut out: ArrayViewMut3<'_, f32>) {
        let shape = [self.games, self.game.planes(), self.game.cells()];
        assert_eq!(out.shape(), shape, "games, planes, cells");
        let numbers = out.as_slice_mut().expect("a contiguous standard layout");
        self.observe_flat(numbers);
    }
}
