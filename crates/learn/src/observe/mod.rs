//! Observing a run: events, metrics, TensorBoard files, and the live view as text.
//!
//! This module decides nothing and prints nothing: a run reports events, and the command line shows them.

mod fleet;
mod metrics;
mod tensorboard;
mod view;

use std::path::Path;

pub use fleet::{FleetCounts, FleetReport};
pub use metrics::{MatchScore, Metrics, Strength, Timing};
pub use tensorboard::EventFile;
pub use view::{Facts, Line, RunView};

/// An event of a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A warning: something went wrong, but the run continues.
    Warning(String),
    /// The run continues from a checkpoint.
    Resumed {
        /// Training steps of the checkpoint.
        step: u64,
        /// Seconds of the run so far.
        seconds: f64,
        /// The lines of metrics so far, oldest first.
        lines: &'a [Metrics],
        /// The result of matches that is not yet in a line of metrics.
        strength: Option<&'a Strength>,
    },
    /// The matches of the checkpoint at this step begin; without a step, they are over.
    Matches(Option<u64>),
    /// The seconds of the run so far, and its seconds of CPU time.
    Elapsed([f64; 2]),
    /// The run has reached a limit, and the final match of its weights at this step begins.
    FinalMatch(u64),
    /// A round was played. Has the number of samples, pending ones included, and the next line of metrics so far.
    Played(usize, &'a Metrics),
    /// The state of the machines that play for the run.
    Fleet(&'a FleetReport),
    /// A line of metrics was written.
    Metrics(&'a Metrics),
    /// Matches were played.
    Strength(&'a Strength),
    /// A checkpoint was written: its step and the path of its agent file.
    Checkpoint(u64, &'a Path),
}
