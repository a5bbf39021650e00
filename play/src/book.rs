//! The rating and the latest puzzles of the user of this terminal, kept in a file.

use std::path::PathBuf;

use crate::files::data_folder;
use crate::puzzles::{GAME, Progress};
use jarmo_core::game::shorten_quotes;
use jarmo_host::files::{SETTINGS_BYTES, read_text, write_whole};

/// The progress and its file.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) progress: Progress,
    file: Option<PathBuf>,
}

impl Book {
    /// Reads the user's file for a game. If it cannot be read or there is no place for it, there is a new progress, and why.
    /// Such a file is not written over.
    pub(crate) fn open(game: &str) -> (Book, Option<String>) {
        let name = match game {
            GAME => "puzzles.json".to_owned(),
            _ => format!("puzzles-{game}.json"),
        };
        let Some(file) = data_folder().map(|folder| folder.join(name)) else {
            let problem = "neither $XDG_DATA_HOME nor $HOME is set".to_owned();
            return (Book::default(), Some(problem));
        };
        if !file.exists() {
            let book = Book { progress: Progress::default(), file: Some(file) };
            return (book, None);
        }
        let text = read_text(&file, SETTINGS_BYTES).map_err(|error| error.to_string());
        let read =
            text.and_then(|text| serde_json::from_str(&text).map_err(|error| shorten_quotes(&error.to_string())));
        match read {
            Ok(progress) => {
                let book = Book { progress, file: Some(file) };
                (book, None)
            }
            Err(problem) => {
                let problem = format!("{}: {problem}", file.display());
                (Book::default(), Some(problem))
            }
        }
    }

    /// Writes the file; the error says which file and why not.
    pub(crate) fn save(&self) -> Result<(), String> {
        let Some(file) = &self.file else {
            return Ok(()); // the user was told when the book was opened
        };
        let text = serde_json::to_string(&self.progress).expect("progress is plain data");
        let folder = file.parent().expect("the file is in a folder");
        let written = std::fs::create_dir_all(folder).and_then(|()| write_whole(file, format!("{text}\n").as_bytes()));
        written.map_err(|error| format!("{}: {error}", file.display()))
    }
}
