//! The error for sessions that cannot begin and players that cannot play.

use std::fmt::Display;

/// A problem as a sentence, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SessionError(String);

impl SessionError {
    /// A problem with this text.
    pub fn new(problem: impl Display) -> SessionError {
        SessionError(problem.to_string())
    }
}
