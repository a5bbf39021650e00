//! Puzzles: positions in which only one action wins, or only one action saves the draw, with their solutions.
//!
//! A file of puzzles has one JSON object per line. [`shipped`] returns those that are part of the program.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::JudgeError;
use jarmo_core::game::{Game, shorten, shorten_quotes};
use jarmo_data::PUZZLES;

/// What exactly one action of the player to move reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// A win; all other actions draw or lose.
    Win,
    /// A draw; all other actions lose.
    Draw,
}

/// A position in which only one action is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Puzzle {
    /// The name of the game.
    pub game: String,
    /// The position.
    pub position: String,
    /// What the right action reaches.
    pub goal: Goal,
    /// If the goal is a win: the plies to the end of the game under perfect play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// The solution: an action of the player, the best reply, and so on; its last action is the player's. At each of
    /// the player's turns, only the action in the solution keeps the goal.
    pub line: Vec<String>,
    /// The difficulty, from 600 to 2100. It grows by 100 with each doubling of the simulations that the agent needs.
    pub rating: u16,
    /// The themes of the solution (`tools/puzzle_themes.py`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub themes: Vec<String>,
}

impl Puzzle {
    /// Reads a puzzle from one line of a file.
    pub fn parse(line: &str) -> Result<Puzzle, JudgeError> {
        serde_json::from_str(line).map_err(|error| JudgeError::new(shorten_quotes(&error.to_string())))
    }

    /// The puzzle as one line of a file.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a puzzle is plain data")
    }

    /// Checks that the puzzle is for this game, that its solution is legal, and that the solution ends with an action
    /// of the player.
    pub fn check<G: Game>(&self, game: &G) -> Result<(), JudgeError> {
        if self.game != game.id() {
            return Err(JudgeError::new(format!(
                "this puzzle belongs to {}, not to {}",
                shorten(&self.game),
                game.id()
            )));
        }
        let mut position = game.parse_position(&self.position).map_err(JudgeError::new)?;
        let player = game.to_move(&position);
        let mut last = None;
        for text in &self.line {
            last = Some(game.to_move(&position));
            game.play_text(&mut position, text).map_err(|error| JudgeError::new(format!("solution: {error}")))?;
        }
        match last {
            Some(last) if last == player => Ok(()),
            _ => Err(JudgeError::new("the solution must end with an action of the player")),
        }
    }
}

/// The puzzles for a game that are part of the program, easiest first. `None` if there are none.
pub fn shipped(game: &str) -> Option<&'static [Puzzle]> {
    static READ: [OnceLock<Vec<Puzzle>>; PUZZLES.len()] = [const { OnceLock::new() }; PUZZLES.len()];
    let number = PUZZLES.iter().position(|(id, _)| *id == game)?;
    let puzzle = |line| Puzzle::parse(line).expect("a test reads them all");
    Some(READ[number].get_or_init(|| PUZZLES[number].1.lines().map(puzzle).collect()))
}
