//! What is counted between one line of metrics and the next.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::selfplay::{GameStats, Round};
use crate::train::Progress;

/// One line of `metrics.jsonl`. All but `timing` follows from the settings alone, where one thread
/// plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Learning steps taken.
    pub step: u64,
    /// Games finished.
    pub games: u64,
    /// Positions searched.
    pub positions: u64,
    /// Samples in the window.
    pub replay: usize,
    /// How full the window is, from 0 to 1.
    pub replay_fill: f64,
    /// Means over the learning steps since the last line.
    pub loss: f64,
    /// The part of the policy.
    pub loss_policy: f64,
    /// The part of win, draw and loss.
    pub loss_result: f64,
    /// The part of the score difference.
    pub loss_score: f64,
    /// The length of the gradients before they were cut.
    pub gradient_norm: f64,
    /// The learning rate of the last step.
    pub rate: f64,
    /// Games finished since the last line: how many, and the share that White won, that Black won,
    /// and that were cut off.
    pub new_games: u64,
    /// See `new_games`.
    pub white: f64,
    /// See `new_games`.
    pub black: f64,
    /// See `new_games`.
    pub truncated: f64,
    /// The share of them that came to a position of exact tables.
    #[serde(default)]
    pub exact: f64,
    /// Their mean length.
    pub plies: f64,
    /// How fast it went.
    pub timing: Timing,
}

/// How fast it went since the last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds of the whole run.
    pub seconds: f64,
    /// Seconds that processors worked on the whole run, all threads together.
    #[serde(default)]
    pub cpu_seconds: f64,
    /// Games finished a second.
    pub games_per_s: f64,
    /// Positions searched a second.
    pub positions_per_s: f64,
    /// Evaluations a second.
    pub evaluations_per_s: f64,
    /// Learning steps a second of learning.
    pub steps_per_s: f64,
    /// The share of the time spent learning.
    pub learning: f64,
}

/// Sums since the last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Window {
    games: GameStats,
    positions: u64,
    evaluations: u64,
    steps: u64,
    losses: [Exact; 4],
    gradient_norm: Exact,
    rate: Exact,
    playing: f64,  // seconds
    learning: f64, // seconds
}

/// A number that is saved as its bits, so that reading it again rounds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Exact(u64);

impl Exact {
    fn of(number: f64) -> Exact {
        Exact(number.to_bits())
    }

    fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    fn add(&mut self, number: f32) {
        *self = Exact::of(self.get() + f64::from(number));
    }
}

/// What a line holds beside the sums.
pub(super) struct Totals {
    pub(super) step: u64,
    pub(super) games: u64,
    pub(super) positions: u64,
    pub(super) replay: usize,
    pub(super) capacity: usize,
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
}

impl Window {
    pub(super) fn add_round(&mut self, round: &Round, time: Duration) {
        self.games.add(&round.games);
        self.positions += round.positions;
        self.evaluations += round.evaluations;
        self.playing += time.as_secs_f64();
    }

    pub(super) fn add_step(&mut self, progress: &Progress) {
        let losses = &progress.losses;
        let parts = [losses.total, losses.policy, losses.result, losses.score];
        for (sum, part) in self.losses.iter_mut().zip(parts) {
            sum.add(part);
        }
        self.gradient_norm.add(progress.gradient_norm);
        self.rate = Exact::of(f64::from(progress.rate));
        self.steps += 1;
    }

    pub(super) fn add_learning(&mut self, time: Duration) {
        self.learning += time.as_secs_f64();
    }

    pub(super) fn metrics(&self, totals: Totals) -> Metrics {
        let per = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        let steps = self.steps as f64;
        let [loss, loss_policy, loss_result, loss_score] =
            self.losses.map(|sum| per(sum.get(), steps));
        let games = self.games.games as f64;
        let time = self.playing + self.learning;
        Metrics {
            step: totals.step,
            games: totals.games,
            positions: totals.positions,
            replay: totals.replay,
            replay_fill: (totals.replay as f64 / totals.capacity as f64).min(1.0),
            loss,
            loss_policy,
            loss_result,
            loss_score,
            gradient_norm: per(self.gradient_norm.get(), steps),
            rate: self.rate.get(),
            new_games: self.games.games,
            white: per(self.games.white as f64, games),
            black: per(self.games.black as f64, games),
            truncated: per(self.games.truncated as f64, games),
            exact: per(self.games.exact as f64, games),
            plies: per(self.games.plies as f64, games),
            timing: Timing {
                seconds: totals.seconds,
                cpu_seconds: totals.cpu_seconds,
                games_per_s: per(games, time),
                positions_per_s: per(self.positions as f64, time),
                evaluations_per_s: per(self.evaluations as f64, self.playing),
                steps_per_s: per(steps, self.learning),
                learning: per(self.learning, time),
            },
        }
    }
}
