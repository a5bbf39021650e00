//! Why self-play or its samples cannot be used.

use std::fmt::Display;
use std::path::Path;

/// A problem in words, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelfPlayError(String);

impl SelfPlayError {
    pub(crate) fn new(problem: impl Display) -> SelfPlayError {
        SelfPlayError(problem.to_string())
    }

    /// A problem with a file or a folder.
    pub(crate) fn at(path: &Path, problem: impl Display) -> SelfPlayError {
        SelfPlayError(format!("{}: {problem}", path.display()))
    }
}
