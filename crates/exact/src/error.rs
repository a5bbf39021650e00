//! The error for tables, proofs and games by name.

use std::fmt::Display;
use std::io;
use std::path::Path;

use jarmo_core::game::shorten;

/// What a caller can do about an [`ExactError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactErrorKind {
    /// Choose another game or change its settings.
    Settings,
    /// Continue without tables: the folder has none for this game, or there cannot be any.
    NoTables,
    /// The file is missing: create it.
    Missing,
    /// The file is damaged: create it again.
    Damaged,
    /// Any other problem: see the message.
    Other,
}

/// A message with the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ExactError {
    /// What a caller can do about it.
    pub kind: ExactErrorKind,
    text: String,
}

impl ExactError {
    pub(crate) fn of_kind(kind: ExactErrorKind, problem: impl Display) -> ExactError {
        let text = problem.to_string();
        ExactError { kind, text }
    }

    /// Any other problem.
    pub fn new(problem: impl Display) -> ExactError {
        ExactError::of_kind(ExactErrorKind::Other, problem)
    }

    /// A game or settings that cannot be used.
    pub(crate) fn settings(problem: impl Display) -> ExactError {
        ExactError::of_kind(ExactErrorKind::Settings, problem)
    }

    /// There is no game with this name. The message lists the games.
    pub fn unknown_game(name: &str, games: &[&str]) -> ExactError {
        ExactError::settings(format!("unknown game `{}`; choose one of {}", shorten(name), games.join(", ")))
    }

    /// There are no tables for the game with this name.
    pub fn no_tables(game: &str) -> ExactError {
        let problem = format!("there are exact tables for jarmo and tammi only, not for {game}");
        ExactError::of_kind(ExactErrorKind::NoTables, problem)
    }

    /// A file of tables that is missing.
    pub(crate) fn missing() -> ExactError {
        ExactError::of_kind(ExactErrorKind::Missing, "is missing; build it first")
    }

    /// A file of tables that was damaged after it was written.
    pub(crate) fn damaged(problem: impl Display) -> ExactError {
        ExactError::of_kind(ExactErrorKind::Damaged, format_args!("{problem}; build it again"))
    }

    /// The same problem, with the path of its file or folder.
    pub fn at(self, path: &Path) -> ExactError {
        let text = format!("{}: {}", path.display(), self.text);
        ExactError { text, ..self }
    }

    /// A file or folder that cannot be read or written.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> ExactError {
        move |error| ExactError::new(error).at(path)
    }
}

impl From<io::Error> for ExactError {
    fn from(error: io::Error) -> ExactError {
        ExactError::new(error)
    }
}
