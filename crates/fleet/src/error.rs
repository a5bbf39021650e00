//! Why something over the network cannot be done.

use std::fmt;
use std::io;
use std::path::Path;

use jarmo_learn::run::RunError;

/// A problem in words, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct FleetError {
    problem: String,
    kind: FleetErrorKind,
}

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetErrorKind {
    /// The same fails again.
    Lasting,
    /// The same may succeed later, for example when the server is there.
    Passing,
    /// A limit of the server is reached, for example that of the queue.
    Full,
    /// Nothing at the server takes what was sent.
    Missing,
}

impl FleetError {
    pub(super) fn new(problem: impl fmt::Display) -> FleetError {
        FleetError { problem: problem.to_string(), kind: FleetErrorKind::Lasting }
    }

    /// What makes a problem of an error with a file.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> FleetError {
        move |error| FleetError::new(format!("{}: {error}", path.display()))
    }

    /// The same problem as another kind.
    pub(super) fn of_kind(self, kind: FleetErrorKind) -> FleetError {
        FleetError { kind, ..self }
    }

    /// What kind of problem it is.
    pub fn kind(&self) -> FleetErrorKind {
        self.kind
    }
}

impl From<FleetError> for RunError {
    fn from(error: FleetError) -> RunError {
        RunError::new(error)
    }
}
