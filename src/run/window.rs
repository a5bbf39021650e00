//! What is counted between one line of metrics and the next.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::observe::{Metrics, Timing};
use crate::selfplay::{GameStats, Round};
use crate::train::{BINS, Bin, Judgement, Progress};

/// Sums since the last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Window {
    games: GameStats,
    positions: u64,
    simulations: u64,
    judged: u64,
    remembered: u64,
    room: u64,
    steps: u64,
    rows: u64,
    agreed: u64,
    losses: [Bits; 4],
    entropies: [Bits; 2], // of the network's policies and of search's
    bins: [[Bits; 3]; BINS],
    gradient_norm: Bits,
    rate: Bits,
    playing: f64,  // seconds
    learning: f64, // seconds
    passed: f64,   // seconds in which one or both went on
}

/// A number that is saved as its bits, so that reading it again rounds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Bits(u64);

impl Bits {
    fn of(number: f64) -> Bits {
        Bits(number.to_bits())
    }

    pub(super) fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    pub(super) fn add(&mut self, number: f64) {
        *self = Bits::of(self.get() + number);
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
    pub(super) events: &'static [&'static str], // names of what the game counts
}

impl Window {
    pub(super) fn add_round(&mut self, round: &Round, time: Duration) {
        self.games.add(&round.games);
        self.positions += round.positions;
        self.simulations += round.simulations;
        self.judged += round.judged;
        self.remembered += round.remembered;
        self.room += round.room;
        self.playing += time.as_secs_f64();
    }

    pub(super) fn add_step(&mut self, progress: &Progress) {
        let losses = &progress.losses;
        let parts = [losses.total, losses.policy, losses.result, losses.score];
        for (sum, part) in self.losses.iter_mut().zip(parts) {
            sum.add(f64::from(part));
        }
        self.gradient_norm.add(f64::from(progress.gradient_norm));
        self.rate = Bits::of(f64::from(progress.rate));
        self.add_judgement(&progress.judgement);
        self.steps += 1;
    }

    fn add_judgement(&mut self, judgement: &Judgement) {
        self.rows += judgement.rows;
        self.agreed += judgement.agreed;
        self.entropies[0].add(judgement.policy_entropy);
        self.entropies[1].add(judgement.target_entropy);
        for (sums, bin) in self.bins.iter_mut().zip(&judgement.bins) {
            for (sum, part) in sums.iter_mut().zip([bin.rows, bin.predicted, bin.happened]) {
                sum.add(part);
            }
        }
    }

    pub(super) fn add_learning(&mut self, time: Duration) {
        self.learning += time.as_secs_f64();
    }

    pub(super) fn add_time(&mut self, time: Duration) {
        self.passed += time.as_secs_f64();
    }

    pub(super) fn metrics(&self, totals: Totals) -> Metrics {
        let per = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        let (steps, rows) = (self.steps as f64, self.rows as f64);
        let [loss, loss_policy, loss_result, loss_score] =
            self.losses.map(|sum| per(sum.get(), steps));
        let [policy_entropy, target_entropy] = self.entropies.map(|sum| per(sum.get(), rows));
        let calibration: Vec<Bin> = self
            .bins
            .iter()
            .map(|sums| {
                let [rows, predicted, happened] = sums.map(Bits::get);
                Bin {
                    rows,
                    predicted,
                    happened,
                }
            })
            .collect();
        let off: f64 = calibration
            .iter()
            .map(|bin| bin.rows * bin.gap().abs())
            .sum();
        let games = self.games.games as f64;
        let events = totals.events.iter().zip(self.games.events);
        let drawn = self.games.games - self.games.white - self.games.black;
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
            policy_entropy,
            target_entropy,
            policy_accuracy: per(self.agreed as f64, rows),
            calibration_error: per(off, rows),
            calibration,
            new_games: self.games.games,
            white: per(self.games.white as f64, games),
            black: per(self.games.black as f64, games),
            drawn: per(drawn as f64, games),
            truncated: per(self.games.truncated as f64, games),
            exact: per(self.games.exact as f64, games),
            plies: per(self.games.plies as f64, games),
            events: events
                .map(|(name, count)| ((*name).to_owned(), per(count as f64, games)))
                .collect(),
            batch_fill: per(self.judged as f64, self.room as f64),
            accuracy: None,
            strength: None,
            timing: Timing {
                seconds: totals.seconds,
                cpu_seconds: totals.cpu_seconds,
                games_per_s: per(games, self.passed),
                positions_per_s: per(self.positions as f64, self.passed),
                simulations_per_s: per(self.simulations as f64, self.passed),
                evaluations_per_s: per((self.judged - self.remembered) as f64, self.passed),
                remembered: per(self.remembered as f64, self.judged as f64),
                steps_per_s: per(steps, self.learning),
                learning: per(self.learning, self.passed).min(1.0),
            },
        }
    }
}
