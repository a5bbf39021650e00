//! The counters of self-play.

use serde::{Deserialize, Serialize};

use jarmo_core::env::GameStats;

/// Counts of one round, or sums over rounds, shards and machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Finished games.
    pub games: GameStats,
    /// Positions that were searched: one per slot and round.
    pub positions: u64,
    /// Simulations.
    pub simulations: u64,
    /// Evaluations that search requested.
    pub requests: u64,
    /// Requests that the cache answered, or that equalled another request of the same batch.
    pub cached: u64,
    /// The number of requests if all batches had been full, to compare with `requests`.
    pub room: u64,
}

/// Means over finished games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerGame {
    /// The fraction that White won.
    pub white: f64,
    /// The fraction that Black won.
    pub black: f64,
    /// The fraction that was drawn, including truncated games.
    pub drawn: f64,
    /// The fraction that was truncated by the move limit.
    pub truncated: f64,
    /// The number of plies.
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

    /// The number of positions that the evaluators computed.
    pub fn evaluations(&self) -> u64 {
        self.requests - self.cached
    }

    /// Means over the finished games; all 0 if there are none.
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
