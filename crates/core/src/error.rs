//! The error for files that cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a file or its content cannot be read, written or used: agents, samples, boards, records, saved games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    path: Option<PathBuf>, // `None` if the data did not come from a file
    problem: String,
}

impl FileError {
    /// A problem with this file.
    pub fn at(path: &Path, problem: impl fmt::Display) -> FileError {
        FileError::from(problem.to_string()).in_file(path)
    }

    /// The problem, without the path of the file.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The same problem with the path of the file in which it was found.
    pub fn in_file(self, path: &Path) -> FileError {
        let path = Some(path.to_owned());
        FileError { path, ..self }
    }
}

/// A problem with data whose file is not known yet.
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
