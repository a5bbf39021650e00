//! What a run tells its caller.

use std::path::Path;

use super::{Metrics, Strength};

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Something went wrong, and the run continues without it.
    Warning(String),
    /// The run begins something that takes a while.
    Doing(Activity),
    /// One action was played in every game: the samples so far, and the next line of metrics as it
    /// stands.
    Played(usize, &'a Metrics),
    /// A line of metrics, as it is in the file.
    Metrics(&'a Metrics),
    /// The result of matches.
    Strength(&'a Strength),
    /// A checkpoint was written: its step and its agent file.
    Checkpoint(u64, &'a Path),
}

/// What takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Playing and learning.
    Training,
    /// Matches of the checkpoint of this step.
    Matches(u64),
}
