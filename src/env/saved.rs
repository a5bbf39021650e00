//! Unfinished games as plain data, so that they can continue after a restart of the program.

use serde::{Deserialize, Serialize};

use super::Opening;
use crate::game::{Action, Game};

/// The unfinished games of an environment.
///
/// Random numbers are derived from seed, slot and step, so nothing else needs to be saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvState {
    /// Steps so far.
    pub steps: u64,
    /// The game of each slot; `None` for idle slots.
    pub games: Vec<Option<SavedGame>>,
}

/// One unfinished game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGame {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>, // position text; `None` for the start position of the game
    actions: Vec<u16>, // from the start
}

/// A saved game that cannot continue under these rules, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("saved game: {0}")]
pub struct EnvError(String);

impl SavedGame {
    /// The game that these legal actions lead to from `start`.
    pub fn of<G: Game>(game: &G, start: &G::Position, actions: &[Action]) -> SavedGame {
        SavedGame {
            start: (*start != game.start()).then(|| game.position_text(start)),
            actions: actions.iter().map(|action| action.0).collect(),
        }
    }

    /// The game so far. Fails if it breaks the rules or is over.
    pub fn opening<G: Game>(&self, game: &G) -> Result<Opening<G::Position>, EnvError> {
        let start = match &self.start {
            None => game.start(),
            Some(text) => game
                .parse_position(text)
                .map_err(|error| EnvError(error.to_string()))?,
        };
        let actions = self.actions.iter().map(|&action| Action(action)).collect();
        let opening = Opening::after(game, start, actions);
        let opening = opening.map_err(|error| EnvError(error.to_string()))?;
        match game.outcome(&opening.position) {
            None => Ok(opening),
            Some(_) => Err(EnvError("the game is already over".to_owned())),
        }
    }
}
