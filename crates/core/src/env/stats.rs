//! Counts of games and of events in games.

use serde::{Deserialize, Serialize};

use crate::game::{MAX_EVENTS, Outcome, Player};

/// Counts of finished games, and of events in all games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameStats {
    /// Finished games.
    pub games: u64,
    /// Games that White won.
    pub white: u64,
    /// Games that Black won.
    pub black: u64,
    /// Games that were truncated by the move limit.
    pub truncated: u64,
    /// Plies of all finished games.
    pub plies: u64,
    /// How often each of [`Game::events`](crate::game::Game::events) happened, in unfinished games, too.
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
