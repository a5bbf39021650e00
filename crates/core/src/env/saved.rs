//! Unfinished games as plain data, from which they can continue after the program restarts.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Line;
use super::settings::{Autoreset, EnvSettings, Seat};
use crate::error::FileError;
use crate::game::{Action, Game};

/// The unfinished games of an environment.
///
/// Random numbers are derived from seed, slot and step, so no state of a generator is saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvState {
    /// The number of steps so far.
    pub steps: u64,
    /// The game of each slot; `None` for idle slots.
    pub games: Vec<Option<SavedGame>>,
}

/// A saved [`VecEnv`](super::VecEnv): its unfinished games, and everything that determines their continuation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEnv {
    #[serde(flatten)]
    pub(super) conditions: Conditions,
    pub(super) seed: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) seeds: Vec<u64>, // [games] or none
    pub(super) begun: Vec<u64>, // [games], the games of each slot so far
    pub(super) sides: Vec<u8>,  // [games], of the caller
    pub(super) state: EnvState,
}

/// The rules under which games were played. They continue only under the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRules {
    game: String,
    rules_version: u32,
    max_plies: u32,
    quiet_limit: Option<u32>,
    board: String,
}

impl SavedRules {
    /// The rules of a game.
    pub fn of<G: Game>(game: &G) -> SavedRules {
        SavedRules {
            game: game.id().to_owned(),
            rules_version: game.rules_version(),
            max_plies: game.max_plies(),
            quiet_limit: game.draw_plies(),
            board: game.board_text(),
        }
    }
}

/// The properties that must be equal in the environment that restores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conditions {
    format: u32,
    #[serde(flatten)]
    rules: SavedRules,
    games: usize,
    autoreset: Autoreset,
    seat: Seat,
    opponent: Option<String>,
    random_plies: u32,
}

/// The version of the format. It is increased when the meaning of saved environments changes.
const FORMAT: u32 = 4;

impl Conditions {
    pub(super) fn new<G: Game>(game: &G, settings: &EnvSettings, opponent: Option<String>) -> Conditions {
        Conditions {
            format: FORMAT,
            rules: SavedRules::of(game),
            games: settings.games,
            autoreset: settings.autoreset,
            seat: settings.seat,
            opponent,
            random_plies: settings.random_plies,
        }
    }
}

impl SavedEnv {
    /// Fails if the saved environment's properties differ from `ours`, or if games are missing.
    pub(super) fn check(&self, ours: &Conditions) -> Result<(), FileError> {
        let [theirs, ours] = [&self.conditions, ours].map(|conditions| json!(conditions));
        let all = theirs.as_object().into_iter().flatten();
        let other = all.filter(|(name, theirs)| ours[name] != **theirs).map(|(name, _)| name.as_str());
        let order = |name: &&str| ["format", "game", "rules_version"].iter().rev().position(|first| first == name);
        match other.max_by_key(order) {
            None => {}
            Some("board") => return Err("the saved environment is on another board".to_owned().into()),
            Some(name) => {
                let [theirs, ours] = [&theirs[name], &ours[name]];
                return Err(format!("the saved environment has {name} {theirs}, this one {ours}").into());
            }
        }
        let mut games = vec![self.state.games.len(), self.begun.len(), self.sides.len()];
        games.extend((!self.seeds.is_empty()).then_some(self.seeds.len()));
        match games.iter().all(|&count| count == self.conditions.games) {
            true => Ok(()),
            false => Err("not a saved environment: games are missing".to_owned().into()),
        }
    }
}

/// One unfinished game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGame {
    /// The start position as text; `None` if it is the start position of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The indices of its actions from the start.
    pub actions: Vec<u16>,
}

/// The error for a game that cannot continue under these rules.
pub(super) fn game_error(why: impl fmt::Display) -> FileError {
    format!("saved game: {why}").into()
}

impl SavedGame {
    /// A game as plain data.
    pub fn of<G: Game>(game: &G, line: &Line<G::Position>) -> SavedGame {
        SavedGame { start: line.start_text(game), actions: line.actions.iter().map(|action| action.0).collect() }
    }

    /// The game as a line. Fails if it breaks the rules or is over.
    pub fn line<G: Game>(&self, game: &G) -> Result<Line<G::Position>, FileError> {
        let start = self.start_position(game)?;
        let actions = self.actions.iter().map(|&action| Action(action)).collect();
        let line = Line::after(game, start, actions).map_err(game_error)?;
        match game.outcome(&line.position) {
            None => Ok(line),
            Some(_) => Err(game_error("the game is already over")),
        }
    }

    /// The start position. Fails if it breaks the rules.
    pub(super) fn start_position<G: Game>(&self, game: &G) -> Result<G::Position, FileError> {
        let Some(text) = &self.start else { return Ok(game.start()) };
        game.parse_position(text).map_err(game_error)
    }
}
