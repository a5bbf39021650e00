//! Why something over the network cannot be done.

use std::fmt;

use jarmo_learn::run::RunError;

/// A problem in words, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct FleetError {
    problem: String,
    may_pass: bool,
}

impl FleetError {
    pub(super) fn new(problem: impl fmt::Display) -> FleetError {
        FleetError {
            problem: problem.to_string(),
            may_pass: false,
        }
    }

    /// The same problem, which may pass by itself.
    pub(super) fn passing(self) -> FleetError {
        FleetError {
            may_pass: true,
            ..self
        }
    }

    /// Whether the same may succeed later, for example because the server is not there yet.
    pub fn may_pass(&self) -> bool {
        self.may_pass
    }
}

impl From<FleetError> for RunError {
    fn from(error: FleetError) -> RunError {
        RunError::new(error)
    }
}
