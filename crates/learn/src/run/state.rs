//! The state that a run is resumed from.

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::matches::Matches;
use super::sums::Sums;
use super::supply::FleetCounters;
use crate::observe::{Metrics, Strength, Timing};
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

/// The counters of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counters {
    pub(super) step: u64,
    pub(super) owed: f64, // learning steps due for the samples so far
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
    pub(super) strength: Option<Strength>, // in no line of metrics yet
    pub(super) matches: Matches,
    #[serde(default)]
    pub(super) fleet: FleetCounters,
}

impl Counters {
    /// Adds what was played, here or elsewhere.
    pub(super) fn add_played(&mut self, counts: &Counts) {
        self.games += counts.games.games;
        self.positions += counts.positions;
        self.sums.counts.add(counts);
    }

    /// The line of metrics at this moment. `events` are the names of the events that the game counts;
    /// the replay window holds `samples` of `capacity`.
    pub(super) fn metrics(&self, events: &[&str], (samples, capacity): (usize, usize), clock: &Clock) -> Metrics {
        let metrics = self.sums.metrics(events);
        Metrics {
            step: self.step,
            games: self.games,
            positions: self.positions,
            replay: samples,
            replay_fill: (samples as f64 / capacity as f64).min(1.0),
            timing: Timing { seconds: clock.seconds(), cpu_seconds: clock.cpu_seconds(), ..metrics.timing },
            ..metrics
        }
    }
}
