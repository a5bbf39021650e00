//! The events that a run reports to its caller.

use std::path::Path;

use super::{FleetReport, Metrics, Strength};

/// An event of a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Something went wrong, and the run continues without it.
    Warning(String),
    /// The run goes on from a checkpoint.
    Resumed {
        /// Learning steps of the checkpoint.
        step: u64,
        /// Seconds of the run so far.
        seconds: f64,
        /// The lines of metrics so far, oldest first.
        lines: &'a [Metrics],
        /// The result of matches that is in no line yet.
        strength: Option<&'a Strength>,
    },
    /// The run begins a long activity.
    Doing(Activity),
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

/// A long activity of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Playing and learning.
    Training,
    /// The matches of the checkpoint at this step.
    Matches(u64),
}
