//! The state that a run is resumed from: its counters, the sums of the next line of metrics, its time.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use super::matches::Matches;
use super::supply::FleetCounters;
use crate::observe::{Metrics, Strength, Timing};
use crate::train::{Measures, Predictions, StepStats};
use jarmo_judge::accuracy::ExamScore;
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::{Counts, GamesState};

/// A checkpoint, apart from the agent file.
pub(super) struct Saved {
    pub(super) learner: Vec<u8>,
    pub(super) games: GamesState,
    pub(super) pending: Samples, // in no replay file yet
    pub(super) counters: Counters,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counters {
    pub(super) step: u64,
    pub(super) owed: f64, // training steps due for the samples so far
    pub(super) games: u64,
    pub(super) positions: u64,
    pub(super) first_file: u64, // number of the first replay file in the window
    pub(super) next_file: u64,  // number of the next one
    pub(super) lines: u64,      // of metrics
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64, // of all threads
    #[serde(rename = "window")]
    pub(super) sums: Sums, // since the last line of metrics
    pub(super) accuracy: Option<ExamScore>, // in no line of metrics yet
    pub(super) examined: Option<u64>, // step of the last exam
    pub(super) strength: Option<Strength>, // in no line of metrics yet
    pub(super) matches: Matches,
    #[serde(default)]
    pub(super) fleet: FleetCounters,
}

impl Counters {
    /// Adds the counts of games that were played here or elsewhere.
    pub(super) fn add_played(&mut self, counts: &Counts) {
        self.games += counts.games.games;
        self.positions += counts.positions;
        self.sums.counts.add(counts);
    }

    /// The line of metrics at this moment. `events` are the names of the events that the game counts; the replay window
    /// holds `samples` of `capacity`.
    pub(super) fn metrics(&self, events: &[&str], (samples, capacity): (usize, usize), clock: &Clock) -> Metrics {
        let per = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        let Sums { counts, predictions, .. } = &self.sums;
        let (steps, rows) = (self.sums.steps as f64, predictions.rows as f64);
        let measured = (self.sums.steps - self.sums.unmeasured) as f64;
        let [loss, loss_policy, loss_result, loss_score] = self.sums.losses.map(|sum| per(sum, measured));
        let bins = predictions.bins.iter();
        let off: f64 = bins.map(|bin| bin.rows * bin.gap().abs()).sum();
        let games = counts.games.games as f64;
        let events = events.iter().zip(counts.games.events);
        let per_second = |count: u64| per(count as f64, self.sums.passed);
        Metrics {
            step: self.step,
            games: self.games,
            positions: self.positions,
            replay: samples,
            replay_fill: (samples as f64 / capacity as f64).min(1.0),
            loss,
            loss_policy,
            loss_result,
            loss_score,
            gradient_norm: per(self.sums.gradient_norm, measured),
            rate: self.sums.rate,
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
                seconds: clock.seconds(),
                cpu_seconds: clock.cpu_seconds(),
                games_per_s: per_second(counts.games.games),
                positions_per_s: per_second(counts.positions),
                simulations_per_s: per_second(counts.simulations),
                evaluations_per_s: per_second(counts.evaluations()),
                cached: per(counts.cached as f64, counts.requests as f64),
                steps_per_s: per(steps, self.sums.learning),
                learning: per(self.sums.learning, self.sums.passed).min(1.0),
            },
            ..Metrics::default()
        }
    }
}

/// Sums between two lines of metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sums {
    pub(super) counts: Counts,
    steps: u64,
    #[serde(default)]
    unmeasured: u64, // of these steps
    losses: [f64; 4], // total, policy, result, score
    gradient_norm: f64,
    rate: f64, // of the last step
    predictions: Predictions,
    learning: f64,          // seconds
    pub(super) passed: f64, // seconds of play and learning, side by side
}

impl Sums {
    pub(super) fn add_steps(&mut self, steps: &[StepStats], time: Duration) {
        for step in steps {
            self.rate = f64::from(step.rate);
            let Some(Measures { losses, predictions, gradient_norm }) = &step.measures else {
                self.unmeasured += 1;
                continue;
            };
            let parts = [losses.total, losses.policy, losses.result, losses.score];
            for (sum, part) in self.losses.iter_mut().zip(parts) {
                *sum += f64::from(part);
            }
            self.gradient_norm += f64::from(*gradient_norm);
            self.predictions.add(predictions);
        }
        self.steps += steps.len() as u64;
        self.learning += time.as_secs_f64();
    }
}

/// The time of a run, over all processes that worked on it.
pub(super) struct Clock {
    earlier: f64,     // seconds of earlier processes
    earlier_cpu: f64, // CPU seconds of earlier processes
    started: Instant,
    cpu_started: ProcessTime,
}

impl Clock {
    /// Continues after this many seconds and CPU seconds.
    pub(super) fn after(earlier: f64, earlier_cpu: f64) -> Clock {
        Clock { earlier, earlier_cpu, started: Instant::now(), cpu_started: ProcessTime::now() }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    /// CPU time of all threads.
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.earlier_cpu + self.cpu_started.elapsed().as_secs_f64()
    }
}
