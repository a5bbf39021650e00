//! Games under way as plain data, so that they can go on after the program was stopped.

use serde::{Deserialize, Serialize};

use crate::env::EnvState;

/// All games under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GamesState {
    pub(super) env: EnvState,
    pub(super) moves: Vec<Vec<MoveState>>, // [slots], those of its game that were searched
}

/// What is kept of one searched position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MoveState {
    pub(super) policy: Vec<f32>, // of the legal actions
    pub(super) surprise: f32,
    pub(super) expected: [f32; 3],
}
