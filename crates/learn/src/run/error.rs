//! Why a run cannot start or continue.

use std::fmt;

use jarmo_exact::catalog::GameError;

/// A problem in words, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunError(pub(super) String);

impl RunError {
    /// A problem with these words.
    pub fn new(problem: impl fmt::Display) -> RunError {
        RunError(problem.to_string())
    }
}

impl From<GameError> for RunError {
    fn from(error: GameError) -> RunError {
        RunError::new(error)
    }
}
