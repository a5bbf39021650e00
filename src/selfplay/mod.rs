//! Games against oneself, thousands at a time: searches in, samples out.
//!
//! Nothing here learns, and nothing here is kept beyond the games under way.

mod counts;
mod game;
mod root;
mod rules;
mod settings;
mod shard;
mod state;
mod timed;

use std::time::Duration;

use rayon::prelude::*;

pub use counts::{Counts, PerGame};
pub use root::Root;
pub use settings::{SelfPlayError, SelfPlaySettings};
pub use state::GamesState;

use crate::encode::Encode;
use crate::eval::Evaluator;
use crate::replay::Samples;
use crate::tables::HasEndgames;
use rules::Rules;
use shard::Shard;

/// Many games under way, in shards that share nothing: one for each thread, with its own evaluator.
pub struct SelfPlay<G: Encode, E> {
    shards: Vec<Shard<G, E>>,
}

/// What one round brought: the samples of the games that ended in it, and counts.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// Samples of the games that ended, in the order of shards and slots.
    pub samples: Samples,
    /// What was counted.
    pub counts: Counts,
    /// Time in evaluators, over all shards.
    pub evaluating: Duration,
    /// Time altogether, over all shards.
    pub playing: Duration,
}

impl<G: Encode, E: Evaluator<G>> SelfPlay<G, E> {
    /// Starts all games, spread over as many shards as there are evaluators. What these say must
    /// depend on the position alone: it is remembered. Slot by slot, the
    /// randomness of a game depends on the seed alone, not on the number of shards. Fails if the
    /// settings name tables that cannot be had.
    ///
    /// # Panics
    /// Panics without an evaluator.
    pub fn new(
        game: &G,
        settings: &SelfPlaySettings,
        evaluators: Vec<E>,
        seed: u64,
    ) -> Result<Self, SelfPlayError>
    where
        G: HasEndgames,
    {
        let count = evaluators.len();
        assert!(count > 0, "an evaluator for each shard");
        let tables = settings.open_tables(game)?;
        let endgames = settings.random_endgames(game);
        let shards = evaluators
            .into_iter()
            .enumerate()
            .map(|(index, evaluator)| {
                let slots = settings.games * index / count..settings.games * (index + 1) / count;
                let rules = Rules {
                    game: game.clone(),
                    tables: tables.clone(),
                    endgames: endgames.clone().map(|draw| (settings.endgames, draw)),
                    opening_plies: settings.opening_plies,
                };
                Shard::new(rules, settings, evaluator, slots, seed)
            });
        Ok(SelfPlay {
            shards: shards.collect(),
        })
    }

    /// Plays one action in every game, on the threads of the current rayon pool.
    pub fn round(&mut self) -> Round {
        let rounds: Vec<Round> = self.shards.par_iter_mut().map(Shard::round).collect();
        let mut all = Round::default();
        for round in rounds {
            all.add(&round);
        }
        all
    }

    /// The games under way.
    pub fn save(&self) -> GamesState {
        let mut state = GamesState::default();
        for shard in &self.shards {
            shard.save(&mut state);
        }
        state
    }

    /// Puts saved games in the place of those under way: they go on as they would have.
    pub fn restore(&mut self, state: &GamesState) -> Result<(), SelfPlayError> {
        let here: usize = self.shards.iter().map(Shard::games).sum();
        let GamesState { env, moves } = state;
        for saved in [env.games.len(), moves.len()] {
            if saved != here {
                return Err(SelfPlayError::new(format!(
                    "{saved} games were saved, {here} are under way; selfplay.games must stay the same"
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

    /// Plays on with other evaluators, as many as there are shards: the games stay as they are.
    ///
    /// # Panics
    /// Panics unless there is one for each shard.
    pub fn replace_evaluators(&mut self, evaluators: Vec<E>) {
        assert_eq!(evaluators.len(), self.shards.len(), "one for each shard");
        for (shard, evaluator) in self.shards.iter_mut().zip(evaluators) {
            shard.replace_evaluator(evaluator);
        }
    }
}

impl Round {
    /// Adds another round, or the same round of another shard.
    pub fn add(&mut self, other: &Round) {
        self.samples.extend(&other.samples);
        self.counts.add(&other.counts);
        self.evaluating += other.evaluating;
        self.playing += other.playing;
    }
}
