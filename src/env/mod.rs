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

mod opening;
mod saved;
mod shard;
mod stats;

use ndarray::ArrayViewMut3;
use rayon::prelude::*;

pub use opening::{Opening, positions};
pub use saved::{EnvError, EnvState, SavedGame};
use shard::Slot;
pub use shard::{Ended, History, Keep, Shard, Transition};
pub use stats::GameStats;

use crate::encode::Encode;
use crate::game::{Action, Game, Player};
use crate::random::{Stream, slot_stream};

/// Below this many games a thread's share is not worth handing over.
const FEWEST_PER_THREAD: usize = 128;

/// Many games of the same rules, each in a slot of its own, that advance together.
///
/// What is random in a game follows from seed, slot and step, so the same seed gives the same games
/// whatever the number of threads. The games are sharded over the threads of the rayon pool that the
/// environment is made in. Where each thread has an evaluator or agents of its own, it steps a
/// [`Shard`] of its own.
pub struct VecEnv<G: Game> {
    game: G,
    seed: u64,
    games: usize,
    share: usize, // games of every shard but the last, which may have fewer
    shards: Vec<Shard<G>>,
    openings: Box<Openings<G::Position>>,
}

/// How the games of an environment begin. A slot without an answer is idle from then on.
type Openings<P> = dyn Fn(NewGame) -> Option<Opening<P>> + Send + Sync;

/// A game that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewGame {
    /// Its slot.
    pub slot: usize,
    /// Steps of the environment before it.
    pub step: u64,
    seed: u64,
}

impl NewGame {
    /// The randomness of its opening.
    pub fn stream(&self) -> Stream {
        // `sample` draws from the seed itself.
        slot_stream(!self.seed, self.slot as u64, self.step)
    }
}

impl<G: Game> VecEnv<G> {
    /// `games` games at their start. Where one ends, another begins.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn new(game: G, games: usize, seed: u64) -> VecEnv<G> {
        let start = game.start();
        let openings = move |_| Some(Opening::at(start));
        VecEnv::with_openings(game, games, seed, Keep::default(), openings)
    }

    /// `games` slots. `openings` says how each game begins, at first and wherever one has ended, or
    /// leaves the slot idle.
    ///
    /// ```
    /// use jarmo::env::{Keep, Opening, VecEnv};
    /// use jarmo::game::Action;
    /// use jarmo::games::ConnectFour;
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
    /// Panics if there are no slots.
    pub fn with_openings(
        game: G,
        games: usize,
        seed: u64,
        keep: Keep,
        openings: impl Fn(NewGame) -> Option<Opening<G::Position>> + Send + Sync + 'static,
    ) -> VecEnv<G> {
        assert!(games > 0, "an environment needs at least one game");
        let threads = rayon::current_num_threads();
        let share = games.div_ceil(threads).max(FEWEST_PER_THREAD).min(games);
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

    /// How many threads can work on it at once.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Bytes of memory a game takes beside the caller's buffers.
    pub const fn slot_bytes() -> usize {
        let finished = size_of::<u32>(); // its place in the list
        size_of::<Slot<G>>() + size_of::<Option<G::Position>>() + finished
    }

    /// The position of a game, never a finished one. In an idle slot it is the last one of the game that
    /// was played there.
    pub fn position(&self, slot: usize) -> &G::Position {
        &self.slot(slot).position
    }

    /// Whether no game is under way in a slot. The environment steps on without it.
    pub fn is_idle(&self, slot: usize) -> bool {
        self.shard(slot).is_idle(slot % self.share)
    }

    /// Starts another game in a slot. What the last step did there stays readable.
    ///
    /// # Panics
    /// Panics if the game would begin at its end.
    pub fn start(&mut self, slot: usize, opening: Opening<G::Position>) {
        self.shards[slot / self.share].start(slot % self.share, opening);
    }

    /// How the game of a slot came to its position.
    ///
    /// # Panics
    /// Panics unless histories are kept.
    pub fn history(&self, slot: usize) -> &History<G::Position> {
        self.shard(slot).history(slot % self.share)
    }

    /// Who decides next in a game. The same player may act twice in a row.
    pub fn to_move(&self, slot: usize) -> Player {
        self.game.to_move(self.position(slot))
    }

    /// The legal actions of a game: none exactly in an idle slot.
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
        self.shard(slot).finals[slot % self.share].as_ref()
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

    /// Chooses a legal action for every game, each as likely as any other: the same ones until the next
    /// step. Idle slots get the first action.
    ///
    /// # Panics
    /// Panics unless `out` has one action a game.
    pub fn sample(&self, out: &mut [Action]) {
        assert_eq!(out.len(), self.games, "one action a game");
        let seed = self.seed;
        match &self.shards[..] {
            [shard] => shard.sample(seed, out),
            shards => shards
                .par_iter()
                .zip(out.par_chunks_mut(self.share))
                .for_each(|(shard, out)| shard.sample(seed, out)),
        }
    }

    /// Plays one action in every game; where a game ends another begins, or the slot becomes idle. What
    /// stands for idle slots among the actions is ignored.
    ///
    /// # Panics
    /// Panics unless there is one legal action a game.
    pub fn step(&mut self, actions: &[Action]) {
        assert_eq!(actions.len(), self.games, "one action a game");
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

    /// The counts since they were taken before.
    pub fn take_stats(&mut self) -> GameStats {
        let mut all = GameStats::default();
        for shard in &mut self.shards {
            all.add(&shard.take_stats());
        }
        all
    }

    /// The games under way.
    ///
    /// # Panics
    /// Panics unless histories are kept.
    pub fn save(&self) -> EnvState {
        EnvState {
            steps: self.shards[0].steps(),
            games: self.shards.iter().flat_map(Shard::save).collect(),
        }
    }

    /// Puts saved games in the place of those under way. With the same seed and openings they go on as
    /// they would have.
    ///
    /// # Panics
    /// Panics unless there is one saved game for each slot.
    pub fn restore(&mut self, state: &EnvState) -> Result<(), EnvError> {
        assert_eq!(state.games.len(), self.games, "one saved game a slot");
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
