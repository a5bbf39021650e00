//! The rating and the latest puzzles of the user of this terminal, kept in a file.

use std::fs;
use std::path::PathBuf;

use crate::files::data_folder;
use crate::puzzles::{GAME, Progress};
use jarmo_core::game::shorten_quotes;
use jarmo_host::files::{SETTINGS_BYTES, read_text, write_whole};

/// The progress and its file.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) progress: Progress,
    pub(crate) problem: Option<String>, // why the progress is not kept
    file: Option<PathBuf>,
}

impl Book {
    /// Reads the user's file for a game. A file that cannot be read is never overwritten.
    pub(crate) fn open(game: &str) -> Book {
        let name = match game {
            GAME => "puzzles.json".to_owned(),
            _ => format!("puzzles-{game}.json"),
        };
        let Some(file) = data_folder().map(|folder| folder.join(name)) else {
            let problem = "neither $XDG_DATA_HOME nor $HOME is set".to_owned();
            return Book { problem: Some(problem), ..Book::default() };
        };
        if !file.exists() {
            return Book { file: Some(file), ..Book::default() };
        }
        let text = read_text(&file, SETTINGS_BYTES).map_err(|error| error.to_string());
        let read =
            text.and_then(|text| serde_json::from_str(&text).map_err(|error| shorten_quotes(&error.to_string())));
        match read {
            Ok(progress) => Book { progress, problem: None, file: Some(file) },
            Err(problem) => Book { problem: Some(format!("{}: {problem}", file.display())), ..Book::default() },
        }
    }

    /// Writes the file, if the user's data has a folder.
    pub(crate) fn save(&mut self) {
        let Some(file) = &self.file else {
            return;
        };
        let text = serde_json::to_string(&self.progress).expect("progress is plain data");
        let folder = file.parent().expect("the file is in a folder");
        let written = fs::create_dir_all(folder).and_then(|()| write_whole(file, format!("{text}\n").as_bytes()));
        if let Err(error) = written {
            self.problem = Some(format!("{}: {error}", file.display()));
        }
    }
}
