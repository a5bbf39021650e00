//! Games under way as plain data, so that they can go on after the program was stopped.

use serde::{Deserialize, Serialize};

/// All games under way. Numbers with a fraction are kept as their bits, so that nothing is rounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GamesState {
    pub(super) rounds: u64,
    pub(super) slots: Vec<SlotState>,
}

/// One game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SlotState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) start: Option<String>, // position text, where it is not that of the game
    pub(super) actions: Vec<u16>, // from the start
    pub(super) moves: Vec<MoveState>,
}

/// One searched position of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MoveState {
    pub(super) at: usize,          // actions of the game before it
    pub(super) actions: Vec<u16>,  // legal
    pub(super) policy: Vec<u32>,   // bits
    pub(super) surprise: u32,      // bits
    pub(super) expected: [u32; 3], // bits
}
