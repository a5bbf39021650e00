//! Why a run cannot start or continue.

use std::fmt;

use jarmo_exact::ExactError;

/// A problem of a run in words, with the remedy: its settings, its device, its learner or its folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunError(pub(crate) String);

impl RunError {
    /// A problem with these words.
    pub fn new(problem: impl fmt::Display) -> RunError {
        RunError(problem.to_string())
    }
}

impl From<ExactError> for RunError {
    fn from(error: ExactError) -> RunError {
        RunError::new(error)
    }
}
