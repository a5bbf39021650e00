//! Why files cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a file, or what is kept in one, cannot be read, written or used: agents, samples, boards, records, saved games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    path: Option<PathBuf>, // if it came from a file
    problem: String,
}

impl FileError {
    /// A problem with the file of this name.
    pub fn at(path: &Path, problem: impl fmt::Display) -> FileError {
        FileError::from(problem.to_string()).in_file(path)
    }

    /// What is wrong, without the name of the file.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The same problem, found in the file of this name.
    pub fn in_file(self, path: &Path) -> FileError {
        let path = Some(path.to_owned());
        FileError { path, ..self }
    }
}

/// A problem with what is in a file.
impl From<String> for FileError {
    fn from(problem: String) -> FileError {
        let path = None;
        FileError { path, problem }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(out, "{}: ", path.display())?;
        }
        out.write_str(&self.problem)
    }
}

impl std::error::Error for FileError {}
