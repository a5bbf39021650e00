//! What self-play counts: one set of numbers, added up from shards to rounds to lines of metrics.

use serde::{Deserialize, Serialize};

use crate::env::GameStats;

/// Counts of a round, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The games that ended.
    pub games: GameStats,
    /// Those of them that reached a position of exact tables.
    pub exact: u64,
    /// Positions searched: one for each game under way.
    pub positions: u64,
    /// Simulations made.
    pub simulations: u64,
    /// Positions that search asked the evaluator for.
    pub requests: u64,
    /// Requests answered from the cache, or by another request of the same batch.
    pub remembered: u64,
    /// Requests that full batches would have held.
    pub room: u64,
}

/// Means over games that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerGame {
    /// The share that White won.
    pub white: f64,
    /// The share that Black won.
    pub black: f64,
    /// The share that neither player won.
    pub drawn: f64,
    /// The share that was ended by the limit on the length.
    pub truncated: f64,
    /// The share that reached a position of exact tables.
    pub exact: f64,
    /// Actions.
    pub plies: f64,
}

impl Counts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        self.games.add(&other.games);
        self.exact += other.exact;
        self.positions += other.positions;
        self.simulations += other.simulations;
        self.requests += other.requests;
        self.remembered += other.remembered;
        self.room += other.room;
    }

    /// Positions that the evaluators computed.
    pub fn evaluations(&self) -> u64 {
        self.requests - self.remembered
    }

    /// Means over the games that ended; 0 if there were none.
    pub fn per_game(&self) -> PerGame {
        let games = &self.games;
        let mean = |sum: u64| sum as f64 / games.games.max(1) as f64;
        PerGame {
            white: mean(games.white),
            black: mean(games.black),
            drawn: mean(games.games - games.white - games.black),
            truncated: mean(games.truncated),
            exact: mean(self.exact),
            plies: mean(games.plies),
        }
    }
}
