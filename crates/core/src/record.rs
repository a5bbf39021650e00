//! Game records: one game per line, as JSON.
//!
//! A record has what `jarmo rules` reads (`game`, `position`, `max_plies`, `moves`), and optionally the players, the
//! outcome and the tournament. Only `game` and `moves` are required. Unknown keys are ignored. docs/formats.md
//! describes the format.

use serde::{Deserialize, Serialize};

use crate::env::Line;
use crate::error::FileError;
use crate::game::{Game, Outcome, shorten, shorten_quotes};

/// The version of the format. It is increased when readers of the old format would misread the new one.
pub const FORMAT: u32 = 1;

/// The record of a game, finished or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// The version of the format.
    #[serde(default = "current_format")]
    pub format: u32,
    /// The game's name.
    pub game: String,
    /// The version of the game's rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
    /// The name of the player with the white pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub white: Option<String>,
    /// The name of the player with the black pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub black: Option<String>,
    /// The outcome; `None` for an unfinished game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The tournament that the game belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena: Option<ArenaMark>,
    /// How many actions at the start belong to the opening, which the players did not choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_plies: Option<usize>,
    /// The start position, if it is not the start position of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The move limit, 0 for none. `None` stands for the default of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_plies: Option<u32>,
    /// All actions as text, with those of the opening.
    pub moves: Vec<String>,
    /// The moves again with variations, comments and marks, as the text of a tree. Only what people play with reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
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
            tree: None,
        }
    }
}

/// Where a game belongs in a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArenaMark {
    /// The seed of the tournament.
    pub seed: u64,
    /// The index of its opening pair among the pairs of the same two players.
    pub pair: u32,
    /// Nodes or simulations per move, if all players have the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Milliseconds per move, if all players have the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movetime_ms: Option<u64>,
}

impl GameRecord {
    /// Reads a record from one line of a file.
    pub fn parse(line: &str) -> Result<GameRecord, FileError> {
        let record: GameRecord = serde_json::from_str(line).map_err(|error| {
            FileError::from(format!(
                "expected a game record, {{\"game\":…,\"moves\":[…]}}: {}",
                shorten_quotes(&error.to_string())
            ))
        })?;
        if record.format == FORMAT {
            Ok(record)
        } else {
            Err(FileError::from(format!(
                "game record has format {}, but this build reads format {FORMAT}",
                record.format
            )))
        }
    }

    /// The record as one line of JSON, without a line break.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a record has only text keys and plain values")
    }

    /// These rules with the move limit of the record. Fails if the record is of another game or of another version of
    /// the rules.
    pub fn rules<G: Game>(&self, game: &G) -> Result<G, FileError> {
        if self.game != game.id() {
            return Err(FileError::from(format!(
                "the record is a game of {}, not of {}",
                shorten(&self.game),
                game.id()
            )));
        }
        if let Some(rules) = self.rules
            && rules != game.rules_version()
        {
            return Err(FileError::from(format!(
                "the record uses version {rules} of the rules of {}, but this build has version {}",
                self.game,
                game.rules_version()
            )));
        }
        Ok(match self.max_plies {
            Some(max_plies) => game.clone().with_max_plies(max_plies),
            None => game.clone(),
        })
    }

    /// Plays all moves of the record by its [rules](GameRecord::rules).
    pub fn replay<G: Game>(&self, game: &G) -> Result<Line<G::Position>, FileError> {
        let game = self.rules(game)?;
        let start = match &self.position {
            None => game.start(),
            Some(text) => {
                game.parse_position(text).map_err(|error| FileError::from(format!("illegal position: {error}")))?
            }
        };
        let mut played = Line::at(start);
        for (index, text) in self.moves.iter().enumerate() {
            let action = game.play_text(&mut played.position, text);
            let wrong = |error| FileError::from(format!("move {}: {error}", index + 1));
            played.actions.push(action.map_err(wrong)?);
        }
        Ok(played)
    }
}
