//! Why something cannot be measured.

use jarmo_core::agent::AgentError;
use jarmo_exact::ExactError;
use jarmo_judge::JudgeError;

/// Why something cannot be measured or played.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// An agent cannot be built.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The agent of this spec has no network and is to play without search.
    #[error("{0} has no network, so its budget cannot be 0")]
    NoNetwork(String),
    /// Exact tables cannot be opened or built.
    #[error(transparent)]
    Tables(#[from] ExactError),
    /// A match is not possible with these agents and settings.
    #[error("{0}")]
    Match(JudgeError),
    /// There are no openings with this number of random plies.
    #[error("{0}")]
    Openings(JudgeError),
    /// A file of openings or questions cannot be used, or there is nothing to measure by.
    #[error(transparent)]
    Judge(#[from] JudgeError),
}
