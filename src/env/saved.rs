//! Games under way as plain data, so that they can go on after the program was stopped.

use serde::{Deserialize, Serialize};

use super::Opening;
use crate::game::{Action, Game};

/// The games of an environment.
///
/// All that is random in an environment follows from seed, slot and step, so this is enough to go on
/// from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvState {
    /// Steps so far.
    pub steps: u64,
    /// The game of each slot; none where it is idle.
    pub games: Vec<Option<SavedGame>>,
}

/// One game under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGame {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>, // position text, where it is not that of the game
    actions: Vec<u16>, // from the start
}

/// Saved games that cannot go on here, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a saved game: {0}")]
pub struct EnvError(String);

impl SavedGame {
    pub(super) fn of<G: Game>(game: &G, start: &G::Position, actions: &[Action]) -> SavedGame {
        SavedGame {
            start: (*start != game.start()).then(|| game.position_text(start)),
            actions: actions.iter().map(|action| action.0).collect(),
        }
    }

    /// The game so far, if it follows the rules and is not over.
    pub(super) fn opening<G: Game>(&self, game: &G) -> Result<Opening<G::Position>, EnvError> {
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
            Some(_) => Err(EnvError("it is over".to_owned())),
        }
    }
}
