//! The two players, and the outcome of a game.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// One of the two players. White makes the first move of every game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Player {
    /// Moves first; `w` in position text.
    White = 0,
    /// Moves second; `b` in position text.
    Black = 1,
}

impl Player {
    /// Both players, White first. All per-player arrays have this order.
    pub const BOTH: [Player; 2] = [Player::White, Player::Black];

    /// 0 for White, 1 for Black.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// `w` or `b`, as in position text.
    pub const fn letter(self) -> char {
        match self {
            Player::White => 'w',
            Player::Black => 'b',
        }
    }

    /// The letter of this player's pieces in position text, in upper case for strong pieces.
    pub const fn piece_letter(self, strong: bool) -> char {
        if strong { self.letter().to_ascii_uppercase() } else { self.letter() }
    }

    /// `white` or `black`.
    pub const fn name(self) -> &'static str {
        match self {
            Player::White => "white",
            Player::Black => "black",
        }
    }
}

impl Not for Player {
    type Output = Player;

    /// The opponent.
    #[inline]
    fn not(self) -> Player {
        match self {
            Player::White => Player::Black,
            Player::Black => Player::White,
        }
    }
}

/// The result of a game for one player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The opponent won.
    Loss,
    /// Neither player won.
    Draw,
    /// This player won.
    Win,
}

impl Verdict {
    /// -1, 0 or +1.
    pub const fn sign(self) -> i8 {
        match self {
            Verdict::Loss => -1,
            Verdict::Draw => 0,
            Verdict::Win => 1,
        }
    }

    /// The same result from the opponent's point of view.
    pub const fn flip(self) -> Verdict {
        match self {
            Verdict::Loss => Verdict::Win,
            Verdict::Draw => Verdict::Draw,
            Verdict::Win => Verdict::Loss,
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Outcome {
    /// The winner, or `None` for a draw.
    pub winner: Option<Player>,
    /// The points of White and Black, if the game has points.
    pub score: Option<[u8; 2]>,
    /// Whether the move limit ended the game, which then counts as a draw.
    pub truncated: bool,
}

impl Outcome {
    /// A game that points decide: more points win.
    pub fn by_score(score: [u8; 2]) -> Outcome {
        let winner = match score[0].cmp(&score[1]) {
            std::cmp::Ordering::Greater => Some(Player::White),
            std::cmp::Ordering::Less => Some(Player::Black),
            std::cmp::Ordering::Equal => None,
        };
        Outcome { winner, score: Some(score), truncated: false }
    }

    /// The outcome of a game without points; `None` is a draw.
    pub const fn plain(winner: Option<Player>) -> Outcome {
        Outcome { winner, score: None, truncated: false }
    }

    /// A game that was truncated by the move limit: a draw, whatever the points.
    pub const fn truncated(score: Option<[u8; 2]>) -> Outcome {
        Outcome { winner: None, score, truncated: true }
    }

    /// The result for one player.
    #[inline]
    pub fn verdict(&self, player: Player) -> Verdict {
        match self.winner {
            None => Verdict::Draw,
            Some(winner) if winner == player => Verdict::Win,
            Some(_) => Verdict::Loss,
        }
    }

    /// The player's points minus the opponent's, at most 127; 0 in games without points.
    #[inline]
    pub fn score_difference(&self, player: Player) -> i8 {
        let [own, others] =
            [player, !player].map(|player| self.score.map_or(0, |score| i16::from(score[player.index()])));
        (own - others).clamp(-127, 127) as i8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_many_points_keep_their_sign() {
        for (score, difference) in [([130, 39], 91), ([200, 10], 127), ([10, 200], -127), ([255, 255], 0)] {
            let outcome = Outcome::by_score(score);
            assert_eq!(outcome.score_difference(Player::White), difference);
            assert_eq!(outcome.score_difference(Player::Black), -difference);
        }
    }
}
