//! Observing a run: events, lines of metrics, TensorBoard files, and a block of text for a terminal.
//!
//! Nothing here decides or prints: a run fills it in, and the command line shows it.

mod fleet;
mod metrics;
mod tensorboard;
mod view;

use std::path::Path;

pub use fleet::FleetReport;
pub use metrics::{MatchScore, Metrics, Strength, Timing};
pub use tensorboard::EventFile;
pub use view::{Facts, Line, RunView};

/// An event of a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Something went wrong, and the run continues without it.
    Warning(String),
    /// The run goes on from a checkpoint.
    Resumed {
        /// Training steps of the checkpoint.
        step: u64,
        /// Seconds of the run so far.
        seconds: f64,
        /// The lines of metrics so far, oldest first.
        lines: &'a [Metrics],
        /// The result of matches that is in no line yet.
        strength: Option<&'a Strength>,
    },
    /// The matches of the checkpoint at this step begin; without a step, they are over.
    Matches(Option<u64>),
    /// The seconds of the run so far, and its seconds of CPU time.
    Elapsed([f64; 2]),
    /// The run has reached a limit, and the final match of its weights at this step begins.
    FinalMatch(u64),
    /// A round was played: the number of samples in the window and pending, and the next line of metrics so far.
    Played(usize, &'a Metrics),
    /// What other machines do for the run.
    Fleet(&'a FleetReport),
    /// A line of metrics was written.
    Metrics(&'a Metrics),
    /// Matches were played.
    Strength(&'a Strength),
    /// A checkpoint was written: its step and the path of its agent file.
    Checkpoint(u64, &'a Path),
}
