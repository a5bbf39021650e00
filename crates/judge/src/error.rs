//! The error for matches, exams and puzzles that cannot be read, played or written.

use std::fmt::Display;
use std::path::Path;

use jarmo_core::error::FileError;

/// A problem as text, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JudgeError(String);

impl JudgeError {
    /// A problem with this text.
    pub fn new(problem: impl Display) -> JudgeError {
        JudgeError(problem.to_string())
    }

    /// A problem with this file.
    pub(crate) fn in_file(path: &Path, problem: impl Display) -> JudgeError {
        JudgeError(format!("{}: {problem}", path.display()))
    }
}

impl From<FileError> for JudgeError {
    fn from(error: FileError) -> JudgeError {
        JudgeError::new(error)
    }
}
