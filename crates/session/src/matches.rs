//! A match of two games.

use serde::{Deserialize, Serialize};

use jarmo_core::game::{Outcome, Player};

/// Two games with the sides swapped; their points are added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The current game, 1 or 2.
    pub game: u32,
    /// Points from finished games: of the player who was White in game 1, and of the opponent.
    pub points: [u32; 2],
    /// Both games are finished.
    pub over: bool,
}

impl Match {
    /// Counts the points of the second game, once.
    pub(crate) fn finish(&mut self, outcome: &Outcome) {
        if self.game == 2 && !self.over {
            let [white, black] = points(outcome);
            self.points = [self.points[0] + black, self.points[1] + white];
            self.over = true;
        }
    }

    /// Validates a restored match: whether a match can have these points.
    pub(crate) fn is_possible(&self) -> bool {
        (1..=2).contains(&self.game) && self.points.iter().all(|&points| points <= 1000)
    }
}

/// Match points of White and Black for a finished game: the score, or 2 for a win and 1 for a draw in games
/// without a score.
pub(crate) fn points(outcome: &Outcome) -> [u32; 2] {
    match outcome.score {
        Some(score) => score.map(u32::from),
        None => Player::BOTH.map(|player| (outcome.verdict(player).sign() + 1) as u32),
    }
}
