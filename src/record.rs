//! Game records: one game per line, as JSON.
//!
//! A record has what [`probe`](crate::probe) reads (`game`, `position`, `max_plies`, `moves`), and optionally
//! the players, the outcome and the tournament. Only `game` and `moves` are required; unknown keys are
//! ignored. docs/formats.md describes the format.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{LINES_BYTES, check_regular, read, read_text};
use crate::game::{Action, Game, Outcome, shorten, shorten_quotes};

/// The version of the format. Increased when readers of the old format would misread the new one.
pub const FORMAT: u32 = 1;

/// The record of a game, finished or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// The version of the format.
    #[serde(default = "current_format")]
    pub format: u32,
    /// The game's name.
    pub game: String,
    /// The version of its rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
    /// The name of White.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub white: Option<String>,
    /// The name of Black.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub black: Option<String>,
    /// The outcome; `None` for an unfinished game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The tournament it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena: Option<ArenaMark>,
    /// The number of first moves that belong to the opening and were not chosen by the players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_plies: Option<usize>,
    /// The start position, if it is not the start position of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The ply at which the game is cut off, 0 for never; `None` is the default of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_plies: Option<u32>,
    /// All actions, as text.
    pub moves: Vec<String>,
}

fn current_format() -> u32 {
    FORMAT
}

impl Default for GameRecord {
    /// An empty record. Set `game` before using it.
    fn default() -> GameRecord {
        GameRecord {
            format: FORMAT,
            game: String::new(),
            rules: None,
            white: None,
            black: None,
            outcome: None,
            arena: None,
            opening_plies: None,
            position: None,
            max_plies: None,
            moves: Vec::new(),
        }
    }
}

/// The place of a game in a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArenaMark {
    /// The tournament's seed.
    pub seed: u64,
    /// The index of the opening pair, among the games between the same two players.
    pub pair: u32,
    /// Nodes or simulations per move, if equal for all players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Milliseconds per move, if equal for all players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movetime_ms: Option<u64>,
}

/// The positions and actions of a record.
#[derive(Clone)]
pub struct ReplayedGame<G: Game> {
    /// The rules, with the record's limit on the length.
    pub game: G,
    /// All positions, one more than actions.
    pub positions: Vec<G::Position>,
    /// All actions.
    pub actions: Vec<Action>,
}

/// An invalid record, or a file of records that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(String);

impl RecordError {
    fn new(message: impl Into<String>) -> RecordError {
        RecordError(message.into())
    }

    fn in_file(path: &Path, problem: impl fmt::Display) -> RecordError {
        RecordError(format!("{}: {problem}", path.display()))
    }
}

impl GameRecord {
    /// Reads one line.
    pub fn parse(line: &str) -> Result<GameRecord, RecordError> {
        let record: GameRecord = serde_json::from_str(line).map_err(|error| {
            RecordError::new(format!(
                "expected a game record, {{\"game\":…,\"moves\":[…]}}: {}",
                shorten_quotes(&error.to_string())
            ))
        })?;
        if record.format == FORMAT {
            Ok(record)
        } else {
            Err(RecordError::new(format!(
                "game record has format {}, but this build reads format {FORMAT}",
                record.format
            )))
        }
    }

    /// The record as one line of JSON, without a line break.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a record has only text keys and plain values")
    }

    /// Replays the record under these rules, with the record's own limit on the length.
    pub fn replay<G: Game>(&self, game: &G) -> Result<ReplayedGame<G>, RecordError> {
        if self.game != game.id() {
            return Err(RecordError::new(format!(
                "the record is a game of {}, not of {}",
                shorten(&self.game),
                game.id()
            )));
        }
        if let Some(rules) = self.rules
            && rules != game.rules_version()
        {
            return Err(RecordError::new(format!(
                "the record uses version {rules} of the rules of {}, but this build has version {}",
                self.game,
                game.rules_version()
            )));
        }
        let game = match self.max_plies {
            Some(max_plies) => game.clone().with_max_plies(max_plies),
            None => game.clone(),
        };
        let mut position = match &self.position {
            None => game.start(),
            Some(text) => game
                .parse_position(text)
                .map_err(|error| RecordError::new(format!("illegal position: {error}")))?,
        };
        let mut positions = vec![position];
        let mut actions = Vec::with_capacity(self.moves.len());
        for (index, text) in self.moves.iter().enumerate() {
            let action = game
                .play_text(&mut position, text)
                .map_err(|error| RecordError::new(format!("move {}: {error}", index + 1)))?;
            actions.push(action);
            positions.push(position);
        }
        Ok(ReplayedGame {
            game,
            positions,
            actions,
        })
    }
}

/// Reads all records of a file. Skips empty lines.
pub fn read_records(path: &Path) -> Result<Vec<GameRecord>, RecordError> {
    let text = read_text(path, LINES_BYTES).map_err(|error| RecordError::in_file(path, error))?;
    parse_lines(path, &text)
}

fn parse_lines(path: &Path, text: &str) -> Result<Vec<GameRecord>, RecordError> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            GameRecord::parse(line).map_err(|error| {
                RecordError::in_file(path, format_args!("line {}: {error}", index + 1))
            })
        })
        .collect()
}

/// A file that records are appended to. Each record is one write, so a kill loses no finished game. The file
/// is locked against other processes.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
}

/// A file that was reopened to append to it.
#[derive(Debug)]
pub struct Resumed {
    /// The file, ready for new records.
    pub file: RecordFile,
    /// The records already in the file.
    pub records: Vec<GameRecord>,
    /// The length of an incomplete last line that was removed, in bytes.
    pub torn_bytes: usize,
}

impl RecordFile {
    /// Creates a new file. Fails if the file exists.
    pub fn create(path: &Path) -> Result<RecordFile, RecordError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => RecordError::in_file(
                path,
                "already exists; choose another name or continue it with --resume",
            ),
            _ => RecordError::in_file(path, error),
        })?;
        RecordFile::locked(path, file)
    }

    /// Opens a file to append to it. Removes an incomplete last line.
    pub fn resume(path: &Path) -> Result<Resumed, RecordError> {
        let failed = |error: io::Error| RecordError::in_file(path, error);
        check_regular(path).map_err(failed)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        let mut file = RecordFile::locked(path, file)?;
        let bytes = read(path, LINES_BYTES).map_err(failed)?;
        let whole = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |last| last + 1);
        let tail = std::str::from_utf8(&bytes[whole..]).unwrap_or_default();
        let mut kept = whole;
        if GameRecord::parse(tail).is_ok() {
            kept = bytes.len(); // only the line break is missing
        }
        let text = std::str::from_utf8(&bytes[..kept])
            .map_err(|error| RecordError::in_file(path, format_args!("not text: {error}")))?;
        let records = parse_lines(path, text)?;
        if kept > whole {
            file.file.write_all(b"\n").map_err(failed)?;
        } else {
            file.file.set_len(kept as u64).map_err(failed)?;
        }
        Ok(Resumed {
            file,
            records,
            torn_bytes: bytes.len() - kept,
        })
    }

    /// Appends a record.
    pub fn append(&mut self, record: &GameRecord) -> Result<(), RecordError> {
        let line = record.to_line() + "\n";
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| RecordError::in_file(&self.path, error))
    }

    fn locked(path: &Path, file: File) -> Result<RecordFile, RecordError> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(RecordError::in_file(
                path,
                "another process is writing to this file; wait until it has finished",
            )),
            // Without locks in the file system there is no protection against a second writer.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(RecordFile {
                path: path.to_owned(),
                file,
            }),
        }
    }
}
