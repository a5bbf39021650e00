//! Why something over the network cannot be done.

use std::fmt;
use std::io;
use std::path::Path;

use jarmo_learn::run::RunError;

/// A problem in words, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// The same fails again.
    #[error("{0}")]
    Lasting(String),
    /// The same may succeed later, for example when the server is there.
    #[error("{0}")]
    Passing(String),
    /// A limit of the server is reached, for example that of the queue.
    #[error("{0}")]
    Full(String),
    /// Nothing at the server takes what was sent.
    #[error("{0}")]
    Missing(String),
}

impl FleetError {
    pub(super) fn new(problem: impl fmt::Display) -> FleetError {
        FleetError::Lasting(problem.to_string())
    }

    /// What makes a problem of an error with a file.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> FleetError {
        move |error| FleetError::new(format!("{}: {error}", path.display()))
    }
}

impl From<FleetError> for RunError {
    fn from(error: FleetError) -> RunError {
        RunError::new(error)
    }
}
