//! Sums between two lines of metrics.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::observe::{Metrics, Timing};
use crate::train::{Predictions, StepStats};
use jarmo_selfplay::selfplay::Counts;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sums {
    pub(super) counts: Counts,
    steps: u64,
    losses: [f64; 4], // total, policy, result, score
    gradient_norm: f64,
    rate: f64, // of the last step
    predictions: Predictions,
    learning: f64,          // seconds
    pub(super) passed: f64, // seconds of play and learning, side by side
}

impl Sums {
    /// Adds learning steps and their total time.
    pub(super) fn add_steps(&mut self, steps: &[StepStats], time: Duration) {
        for step in steps {
            let losses = &step.losses;
            let parts = [losses.total, losses.policy, losses.result, losses.score];
            for (sum, part) in self.losses.iter_mut().zip(parts) {
                *sum += f64::from(part);
            }
            self.gradient_norm += f64::from(step.gradient_norm);
            self.rate = f64::from(step.rate);
            self.predictions.add(&step.predictions);
        }
        self.steps += steps.len() as u64;
        self.learning += time.as_secs_f64();
    }

    /// The part of a line that follows from these sums. `events` are the names of the events that the
    /// game counts.
    pub(super) fn metrics(&self, events: &[&str]) -> Metrics {
        let per = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        let (counts, predictions) = (&self.counts, &self.predictions);
        let (steps, rows) = (self.steps as f64, predictions.rows as f64);
        let [loss, loss_policy, loss_result, loss_score] = self.losses.map(|sum| per(sum, steps));
        let bins = predictions.bins.iter();
        let off: f64 = bins.map(|bin| bin.rows * bin.gap().abs()).sum();
        let games = counts.games.games as f64;
        let events = events.iter().zip(counts.games.events);
        let per_second = |count: u64| per(count as f64, self.passed);
        Metrics {
            loss,
            loss_policy,
            loss_result,
            loss_score,
            gradient_norm: per(self.gradient_norm, steps),
            rate: self.rate,
            policy_entropy: per(predictions.policy_entropy, rows),
            target_entropy: per(predictions.target_entropy, rows),
            policy_accuracy: per(predictions.agreed as f64, rows),
            calibration_error: per(off, rows),
            calibration: predictions.bins.to_vec(),
            new_games: counts.games.games,
            per_game: counts.per_game(),
            events: events.map(|(name, count)| ((*name).to_owned(), per(count as f64, games))).collect(),
            batch_fill: per(counts.requests as f64, counts.room as f64),
            timing: Timing {
                games_per_s: per_second(counts.games.games),
                positions_per_s: per_second(counts.positions),
                simulations_per_s: per_second(counts.simulations),
                evaluations_per_s: per_second(counts.evaluations()),
                cached: per(counts.cached as f64, counts.requests as f64),
                steps_per_s: per(steps, self.learning),
                learning: per(self.learning, self.passed).min(1.0),
                ..Timing::default()
            },
            ..Metrics::default()
        }
    }
}
