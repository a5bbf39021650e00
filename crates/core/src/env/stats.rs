//! Counts over games.

use serde::{Deserialize, Serialize};

use crate::game::{Outcome, Player};

/// The maximum number of events that a game counts.
const MAX_EVENTS: usize = 4;

/// Counts over finished games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameStats {
    /// Finished games.
    pub games: u64,
    /// Games that White won.
    pub white: u64,
    /// Games that Black won.
    pub black: u64,
    /// Games cut off by the limit on their length.
    pub truncated: u64,
    /// Actions in all finished games.
    pub plies: u64,
    /// The game's events, in the order of [`Game::events`](crate::game::Game::events). Unfinished games count, too.
    pub events: [u64; MAX_EVENTS],
}

impl GameStats {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &GameStats) {
        self.games += other.games;
        self.white += other.white;
        self.black += other.black;
        self.truncated += other.truncated;
        self.plies += other.plies;
        for (sum, count) in self.events.iter_mut().zip(other.events) {
            *sum += count;
        }
    }

    /// Counts a finished game of this length.
    pub(super) fn count(&mut self, outcome: &Outcome, plies: u32) {
        self.games += 1;
        self.white += u64::from(outcome.winner == Some(Player::White));
        self.black += u64::from(outcome.winner == Some(Player::Black));
        self.truncated += u64::from(outcome.truncated);
        self.plies += u64::from(plies);
    }
}
