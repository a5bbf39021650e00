//! Proven results, and the order in which players prefer them.

use std::fmt;

use super::Verdict;

/// A result that is certain under perfect play, from one player's point of view, and the number of plies until the
/// end. The winner ends the game as soon as possible, the loser as late as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proven {
    /// The result.
    pub verdict: Verdict,
    /// The number of plies until the end of the game, if known. A draw has a number only if the game is over, because
    /// otherwise play might never end.
    pub plies: Option<u32>,
}

impl Proven {
    /// A draw in a game that is not over.
    pub const DRAW: Proven = Proven { verdict: Verdict::Draw, plies: None };

    /// A win in this many plies.
    pub const fn win(plies: u32) -> Proven {
        Proven { verdict: Verdict::Win, plies: Some(plies) }
    }

    /// A loss in this many plies.
    pub const fn loss(plies: u32) -> Proven {
        Proven { verdict: Verdict::Loss, plies: Some(plies) }
    }

    /// The result of a game that is over.
    pub const fn over(verdict: Verdict) -> Proven {
        Proven { verdict, plies: Some(0) }
    }

    /// Whether the result is that of a finished game.
    #[inline]
    pub const fn is_over(self) -> bool {
        matches!(self.plies, Some(0))
    }

    /// The same result from the opponent's point of view.
    #[inline]
    #[must_use]
    pub const fn flip(self) -> Proven {
        Proven { verdict: self.verdict.flip(), plies: self.plies }
    }

    /// The same result seen one ply earlier in the game, so that the end is one ply further away. The point of view
    /// does not change.
    #[inline]
    #[must_use]
    pub fn before(self) -> Proven {
        match self.verdict {
            Verdict::Draw => Proven::DRAW,
            verdict => Proven { verdict, plies: self.plies.map(|plies| plies + 1) },
        }
    }

    /// A sort key; larger is better: quick wins, slow wins, draws (0), slow losses, quick losses. An unknown number
    /// of plies counts as very large.
    #[inline]
    pub fn preference(self) -> i32 {
        const FAR: u32 = 1 << 30;
        let near = (FAR - self.plies.unwrap_or(FAR).min(FAR - 1)) as i32;
        near * i32::from(self.verdict.sign())
    }
}

impl fmt::Display for Proven {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (over, result) = match self.verdict {
            Verdict::Win => ("over, won", "win"),
            Verdict::Draw => ("over, drawn", "draw"),
            Verdict::Loss => ("over, lost", "loss"),
        };
        match self.plies {
            Some(0) => out.write_str(over),
            Some(plies) => write!(out, "{result} in {plies}"),
            None => out.write_str(result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_prefer_quick_wins_and_slow_losses() {
        let unknown = |verdict| Proven { verdict, plies: None };
        let best_first = [
            Proven::over(Verdict::Win),
            Proven::win(1),
            Proven::win(7),
            unknown(Verdict::Win),
            Proven::DRAW,
            unknown(Verdict::Loss),
            Proven::loss(8),
            Proven::loss(2),
        ];
        assert!(best_first.is_sorted_by_key(|proven| -proven.preference()));
        let keys = best_first.map(Proven::preference);
        assert!(keys.windows(2).all(|pair| pair[0] > pair[1]), "{keys:?}");
        assert_eq!(Proven::over(Verdict::Draw).preference(), 0);
    }

    #[test]
    fn a_result_seen_one_ply_earlier_is_one_ply_further_away() {
        assert_eq!(Proven::loss(2).flip().before(), Proven::win(3));
        assert_eq!(Proven::win(3).flip().before(), Proven::loss(4));
        assert_eq!(Proven::over(Verdict::Draw).before(), Proven::DRAW);
        assert_eq!(Proven::DRAW.before(), Proven::DRAW);
    }
}
