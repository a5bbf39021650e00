//! Unfinished games as plain data, to continue them in another process.

use serde::{Deserialize, Serialize};

use jarmo_core::env::EnvState;

/// All unfinished games of self-play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GamesState {
    pub(super) env: EnvState,
    pub(super) moves: Vec<Vec<Searched>>, // [slots, searched positions]
}

/// The part of a search result that does not follow from the game's actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The policy target: a probability for each legal action, in ascending order.
    pub policy: Vec<f32>,
    /// Expected win, draw and loss of the player to move after the chosen action.
    pub expected: [f32; 3],
}
