//! Why training cannot begin or continue.

use std::fmt;

use jarmo_exact::ExactError;

/// A problem with settings, a network, a device, a training step or a run's folder, in words and with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TrainError(pub String);

impl TrainError {
    /// A problem with these words.
    pub fn new(problem: impl fmt::Display) -> TrainError {
        TrainError(problem.to_string())
    }
}

impl From<ExactError> for TrainError {
    fn from(error: ExactError) -> TrainError {
        TrainError::new(error)
    }
}
