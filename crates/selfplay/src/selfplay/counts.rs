//! The counters of self-play, summed over shards, rounds and lines of metrics.

use serde::{Deserialize, Serialize};

use jarmo_core::env::GameStats;

/// Counts of one round or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Finished games.
    pub games: GameStats,
    /// Positions searched: one per slot and round.
    pub positions: u64,
    /// Simulations.
    pub simulations: u64,
    /// Evaluations requested by search.
    pub requests: u64,
    /// Requests answered by the cache, or by another request of the same batch.
    pub cached: u64,
    /// Requests that the same batches would have held if they had been full.
    pub room: u64,
}

/// Means over finished games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerGame {
    /// The share won by White.
    pub white: f64,
    /// The share won by Black.
    pub black: f64,
    /// The share that was drawn.
    pub drawn: f64,
    /// The share that was truncated by the limit on the length.
    pub truncated: f64,
    /// The number of actions.
    pub plies: f64,
}

impl Counts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        self.games.add(&other.games);
        self.positions += other.positions;
        self.simulations += other.simulations;
        self.requests += other.requests;
        self.cached += other.cached;
        self.room += other.room;
    }

    /// Requests that the evaluators computed.
    pub fn evaluations(&self) -> u64 {
        self.requests - self.cached
    }

    /// Means over finished games; 0 without any.
    pub fn per_game(&self) -> PerGame {
        let games = &self.games;
        let mean = |sum: u64| sum as f64 / games.games.max(1) as f64;
        PerGame {
            white: mean(games.white),
            black: mean(games.black),
            drawn: mean(games.games - games.white - games.black),
            truncated: mean(games.truncated),
            plies: mean(games.plies),
        }
    }
}
