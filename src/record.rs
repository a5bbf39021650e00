//! Game records: one game a line, as JSON, readable by the rules probe.
//!
//! A record is what the probe reads (`game`, `position`, `max_plies`, `moves`) and, for people and
//! tournaments, who played, how it ended and where it belongs. Only `game` and `moves` must be there;
//! unknown keys are not looked at. The form is described in docs/formats.md.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::game::{Action, Game, Outcome};

/// The version of the form; it goes up when a reader of the old one would misread the new one.
pub const FORMAT: u32 = 1;

/// A game that was played, or a part of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// The version of this form.
    #[serde(default = "current_format")]
    pub format: u32,
    /// The game's name.
    pub game: String,
    /// The version of its rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
    /// Who played White.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub white: Option<String>,
    /// Who played Black.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub black: Option<String>,
    /// How it ended; nothing for a game that did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The tournament it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena: Option<ArenaMark>,
    /// How many moves at the beginning were given, not chosen by the players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_plies: Option<usize>,
    /// The position it started from, unless that is the game's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The ply at which the game is cut off, 0 for never; the game's default if it is not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_plies: Option<u32>,
    /// Every action from there, as text.
    pub moves: Vec<String>,
}

fn current_format() -> u32 {
    FORMAT
}

impl Default for GameRecord {
    /// A record of this form of which nothing is known yet; it lacks its game.
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

/// Which game of which tournament a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArenaMark {
    /// The tournament's seed.
    pub seed: u64,
    /// The pair of games it belongs to, of those between the same two players.
    pub pair: u32,
    /// Nodes or simulations a move, if they were the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Milliseconds a move, if they were the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movetime_ms: Option<u64>,
}

/// A record played through: every position, and the actions between them.
#[derive(Clone)]
pub struct Replay<G: Game> {
    /// The rules with the record's limit.
    pub game: G,
    /// From the first to the last; one more than actions.
    pub positions: Vec<G::Position>,
    /// The actions.
    pub actions: Vec<Action>,
}

/// What is wrong with a record, or with a file of them.
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
                "expected a game record, {{\"game\":…,\"moves\":[…]}}: {error}"
            ))
        })?;
        if record.format == FORMAT {
            Ok(record)
        } else {
            Err(RecordError::new(format!(
                "game record of format {}, this build reads format {FORMAT}",
                record.format
            )))
        }
    }

    /// The record as one line, without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a record has only text keys and plain values")
    }

    /// Plays the record through under these rules, with the record's own limit on the length.
    pub fn replay<G: Game>(&self, game: &G) -> Result<Replay<G>, RecordError> {
        if self.game != game.id() {
            return Err(RecordError::new(format!(
                "a game of {}, not of {}",
                self.game,
                game.id()
            )));
        }
        if let Some(rules) = self.rules
            && rules != game.rules_version()
        {
            return Err(RecordError::new(format!(
                "played under version {rules} of the rules of {}, this build has version {}",
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
        Ok(Replay {
            game,
            positions,
            actions,
        })
    }
}

/// Reads all records of a file. Empty lines are skipped.
pub fn read_records(path: &Path) -> Result<Vec<GameRecord>, RecordError> {
    let text = fs::read_to_string(path).map_err(|error| RecordError::in_file(path, error))?;
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

/// A file that records are added to, each in one write, so that a kill loses no finished game. No
/// other process can add to it meanwhile.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
}

/// A file opened to be continued.
#[derive(Debug)]
pub struct Resumed {
    /// Where new records go.
    pub file: RecordFile,
    /// The records that are in it.
    pub records: Vec<GameRecord>,
    /// Bytes of a half-written last line that were cut off.
    pub torn_bytes: usize,
}

impl RecordFile {
    /// Makes a new file. One that is already there is not touched.
    pub fn create(path: &Path) -> Result<RecordFile, RecordError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => RecordError::in_file(
                path,
                "there already; choose another name, or go on with it by --resume",
            ),
            _ => RecordError::in_file(path, error),
        })?;
        RecordFile::locked(path, file)
    }

    /// Opens a file to add to it. A last line that was only half written is cut off.
    pub fn resume(path: &Path) -> Result<Resumed, RecordError> {
        let failed = |error: io::Error| RecordError::in_file(path, error);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        let mut file = RecordFile::locked(path, file)?;
        let bytes = fs::read(path).map_err(failed)?;
        let whole = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |last| last + 1);
        let tail = std::str::from_utf8(&bytes[whole..]).unwrap_or_default();
        let mut kept = whole;
        if GameRecord::parse(tail).is_ok() {
            kept = bytes.len(); // only the end of the line is missing
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

    /// Adds a record.
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
                "another process is writing to it; wait for its end",
            )),
            // Some file systems have no locks; then nothing guards against a second writer.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(RecordFile {
                path: path.to_owned(),
                file,
            }),
        }
    }
}
