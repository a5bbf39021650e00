//! Self-play: thousands of games at a time are searched and stepped in rounds. Finished games become samples.
//!
//! This module does not train a network and does not store samples.

mod counts;
mod episode;
mod game;
mod root;
mod settings;
mod shard;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use counts::{Counts, PerGame};
pub use episode::{Episode, EpisodeReader, Searched};
pub use root::draw_noise;
pub use settings::SelfPlaySettings;

use crate::replay::Samples;
use jarmo_core::encode::Encode;
use jarmo_core::env::{EnvState, SavedGame};
use jarmo_core::error::FileError;
use jarmo_core::eval::Evaluator;
use jarmo_exact::tables::HasEndgames;
use settings::Rules;
use shard::SlotSearches;

/// Games in shards that share nothing. Each shard has its own evaluator.
pub struct SelfPlay<G: Encode, E> {
    shards: Vec<SlotSearches<G, E>>,
    now: fn() -> u64, // nanoseconds
}

/// All unfinished games of self-play, for saving.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GamesState {
    env: EnvState,
    moves: Vec<Vec<Searched>>, // [slots][searched positions]
}

/// The results of one round, or of several.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// The samples of the finished games, in the order of shards and slots. Empty after [`SelfPlay::keep_episodes`].
    pub samples: Samples,
    /// The finished games themselves, in the same order, after [`SelfPlay::keep_episodes`] or
    /// [`SelfPlay::keep_games`].
    pub episodes: Vec<Episode>,
    /// Counters of the round.
    pub counts: Counts,
    /// The nanoseconds spent, summed over threads, after [`SelfPlay::with_clock`].
    pub playing: u64,
}

impl<G: Encode, E: Evaluator<G>> SelfPlay<G, E> {
    /// Starts all games, in one shard per evaluator. Evaluators must be deterministic, because results are cached.
    /// Random numbers depend on the seed and the slot, not on the number of shards.
    ///
    /// # Panics
    /// Panics without an evaluator.
    pub fn new(game: &G, settings: &SelfPlaySettings, evaluators: Vec<E>, seed: u64) -> SelfPlay<G, E>
    where
        G: HasEndgames,
    {
        let count = evaluators.len();
        assert!(count > 0, "an evaluator per shard");
        let rules = Rules::new(game, settings);
        let shards = evaluators.into_iter().enumerate().map(|(index, evaluator)| {
            let slots = settings.games * index / count..settings.games * (index + 1) / count;
            SlotSearches::new(rules.clone(), evaluator, slots, seed)
        });
        SelfPlay { shards: shards.collect(), now: || 0 }
    }

    /// Rounds also measure the time that threads spend. `now` is a clock in nanoseconds.
    #[must_use]
    pub fn with_clock(self, now: fn() -> u64) -> SelfPlay<G, E> {
        SelfPlay { now, ..self }
    }

    /// Searches all slots and plays one action in each, on the threads of the current rayon pool. If there are more
    /// shards than threads, each thread grows the trees of several in turn.
    pub fn round(&mut self) -> Round {
        let of_each = self.shards.len().div_ceil(rayon::current_num_threads());
        let now = self.now;
        let play = |shards: &mut [SlotSearches<G, E>]| {
            let start = now();
            let mut round = SlotSearches::round(shards);
            round.playing = now() - start;
            round
        };
        let rounds: Vec<Round> = self.shards.par_chunks_mut(of_each).map(play).collect();
        let mut all = Round::default();
        for round in rounds {
            all.add(round);
        }
        all
    }

    /// Saves all unfinished games.
    pub fn save(&self) -> GamesState {
        let mut state = GamesState::default();
        for shard in &self.shards {
            shard.save(&mut state);
        }
        state
    }

    /// Replaces all games by saved ones, which continue exactly as if they had not been interrupted.
    pub fn restore(&mut self, state: &GamesState) -> Result<(), FileError> {
        let here: usize = self.shards.iter().map(SlotSearches::games).sum();
        let GamesState { env, moves } = state;
        for saved in [env.games.len(), moves.len()] {
            if saved != here {
                return Err(FileError::from(format!(
                    "{saved} games were saved, but selfplay.games is {here}; it must stay {saved}"
                )));
            }
        }
        let mut first = 0;
        for shard in &mut self.shards {
            let own = first..first + shard.games();
            shard.restore(env.steps, &env.games[own.clone()], &moves[own.clone()])?;
            first = own.end;
        }
        Ok(())
    }

    /// Searches the last position of each of these unfinished games, one per slot, in place of the games there. `None`
    /// where the chosen action ended the game.
    pub fn search_again(&mut self, games: Vec<SavedGame>) -> Result<Vec<Option<Searched>>, FileError> {
        let moves = vec![Vec::new(); games.len()];
        let env = EnvState { steps: 0, games: games.into_iter().map(Some).collect() };
        self.restore(&GamesState { env, moves })?;
        self.round();
        Ok(self.save().moves.into_iter().map(|mut searches| searches.pop()).collect())
    }

    /// From now on, rounds return the finished games instead of samples. Games whose first search is yet to come are
    /// marked with `weights`, the training step of the current evaluators.
    pub fn keep_episodes(&mut self, weights: u64) {
        for shard in &mut self.shards {
            shard.slots.weights = Some(weights);
        }
    }

    /// From now on, rounds return the finished games in addition to their samples.
    pub fn keep_games(&mut self) {
        for shard in &mut self.shards {
            shard.slots.keeps_games = true;
        }
    }

    /// Replaces the evaluators. The games continue.
    ///
    /// # Panics
    /// Panics unless there is one evaluator per shard.
    pub fn replace_evaluators(&mut self, evaluators: Vec<E>) {
        assert_eq!(evaluators.len(), self.shards.len(), "an evaluator per shard");
        for (shard, evaluator) in self.shards.iter_mut().zip(evaluators) {
            shard.replace_evaluator(evaluator);
        }
    }
}

impl Round {
    /// Adds another round, or the part of another shard.
    pub fn add(&mut self, other: Round) {
        self.samples.extend(&other.samples);
        self.episodes.extend(other.episodes);
        self.counts.add(&other.counts);
        self.playing += other.playing;
    }
}
