//! Unfinished games as plain data, to continue them in another process.

use serde::{Deserialize, Serialize};

use crate::env::EnvState;

/// All unfinished games of self-play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GamesState {
    pub(super) env: EnvState,
    pub(super) moves: Vec<Vec<SavedSearch>>, // [slots, searched positions]
}

/// The saved part of a search result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedSearch {
    pub(super) policy: Vec<f32>, // of the legal actions
    pub(super) expected: [f32; 3],
}
