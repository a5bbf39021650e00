//! One byte per position: the result for the player to move, and the plies until it.

use std::fmt;

use crate::game::Verdict;

/// What a position is worth under best play of both sides: a winner ends the game as soon as he
/// can, a loser as late as he can, and a game that nobody can win goes on for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exact {
    /// The player to move wins after this many plies.
    Win(u32),
    /// Nobody can win.
    Draw,
    /// The player to move loses after this many plies.
    Loss(u32),
    /// The game is over and drawn by points.
    OverDrawn,
}

impl Exact {
    /// The result for the player to move.
    pub fn verdict(self) -> Verdict {
        match self {
            Exact::Win(_) => Verdict::Win,
            Exact::Draw | Exact::OverDrawn => Verdict::Draw,
            Exact::Loss(_) => Verdict::Loss,
        }
    }

    /// The plies until the result; a drawn game has none, unless it is over.
    pub fn plies(self) -> Option<u32> {
        match self {
            Exact::Win(plies) | Exact::Loss(plies) => Some(plies),
            Exact::Draw => None,
            Exact::OverDrawn => Some(0),
        }
    }

    /// Whether the game is over in this position.
    pub fn is_over(self) -> bool {
        self.plies() == Some(0)
    }

    /// What an action that leads to a position of this worth for the opponent is worth to the
    /// player who takes it.
    #[must_use]
    pub fn before(self) -> Exact {
        match self {
            Exact::Win(plies) => Exact::Loss(plies + 1),
            Exact::Draw | Exact::OverDrawn => Exact::Draw,
            Exact::Loss(plies) => Exact::Win(plies + 1),
        }
    }

    /// Sorts what a player prefers higher: quick wins, slow wins, draws, slow losses, quick losses.
    pub fn preference(self) -> i32 {
        const FAR: i32 = 1 << 20;
        match self {
            Exact::Win(plies) => FAR - plies as i32,
            Exact::Draw | Exact::OverDrawn => 0,
            Exact::Loss(plies) => plies as i32 - FAR,
        }
    }

    /// What a byte of a table says.
    #[inline(always)]
    pub fn from_byte(byte: u8) -> Exact {
        // Nothing waits for the byte but the answer: a branch on it would.
        MEANING[usize::from(byte)]
    }
}

static MEANING: [Exact; 256] = meanings();

const fn meanings() -> [Exact; 256] {
    let mut table = [Exact::Draw; 256];
    table[OVER_DRAWN as usize] = Exact::OverDrawn;
    let mut plies = 0;
    while WON as u32 + 2 * plies <= u8::MAX as u32 {
        table[lost(plies) as usize] = Exact::Loss(plies);
        table[won(plies) as usize] = Exact::Win(plies);
        plies += 1;
    }
    table
}

impl fmt::Display for Exact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exact::Win(0) => out.write_str("over, won"),
            Exact::Loss(0) => out.write_str("over, lost"),
            Exact::OverDrawn => out.write_str("over, drawn"),
            Exact::Win(plies) => write!(out, "win in {plies}"),
            Exact::Loss(plies) => write!(out, "loss in {plies}"),
            Exact::Draw => out.write_str("draw"),
        }
    }
}

/// The byte of a drawn position.
pub const DRAWN: u8 = 0;

/// The byte of a game that is over and drawn.
pub const OVER_DRAWN: u8 = 1;

const LOST: u8 = 2; // and 4, 6, … one, two, … plies later
const WON: u8 = 3;

/// The byte of a position lost in this many plies.
#[inline(always)]
pub const fn lost(plies: u32) -> u8 {
    LOST + 2 * plies as u8
}

/// The byte of a position won in this many plies.
#[inline(always)]
pub const fn won(plies: u32) -> u8 {
    WON + 2 * plies as u8
}

/// How the bytes of an unfinished layer are shared out: results below, counters above.
///
/// A counter stands for "`k` actions of this position are not yet known to lose", as `256 - k`. A
/// position's distance has to fit below the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    first: u8, // the counter with the largest k
}

/// The counter from which one more lost action makes a lost position.
pub const LAST_COUNTER: u8 = u8::MAX;

impl Counters {
    /// Counters up to `most`, which is at most 200.
    pub fn up_to(most: u32) -> Counters {
        assert!((1..=200).contains(&most), "too many counters for a byte");
        Counters {
            first: (256 - most) as u8,
        }
    }

    /// The longest distance that leaves room for the counters.
    pub fn most_plies(self) -> u32 {
        u32::from((self.first - WON - 1) / 2)
    }

    /// The counter for `count` actions, at least one.
    #[inline(always)]
    pub fn counter(self, count: u32) -> u8 {
        debug_assert!((1..=256 - u32::from(self.first)).contains(&count));
        (256 - count) as u8
    }

    /// Whether the byte is a counter and not a result.
    #[inline(always)]
    pub fn is_counter(self, byte: u8) -> bool {
        byte >= self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_reads_back_and_no_counter_is_taken_for_one() {
        let counters = Counters::up_to(29);
        for plies in 0..=counters.most_plies() {
            assert_eq!(Exact::from_byte(won(plies)), Exact::Win(plies));
            assert_eq!(Exact::from_byte(lost(plies)), Exact::Loss(plies));
            assert!(!counters.is_counter(won(plies)) && !counters.is_counter(lost(plies)));
        }
        assert!(counters.most_plies() > 100);
        assert_eq!(Exact::from_byte(DRAWN), Exact::Draw);
        assert_eq!(Exact::from_byte(OVER_DRAWN), Exact::OverDrawn);
        assert_eq!(counters.counter(1), LAST_COUNTER);
        assert!(counters.is_counter(counters.counter(29)));
    }

    #[test]
    fn players_prefer_quick_wins_and_slow_losses() {
        let best_first = [
            Exact::Win(1),
            Exact::Win(7),
            Exact::Draw,
            Exact::Loss(8),
            Exact::Loss(2),
        ];
        assert!(best_first.is_sorted_by_key(|exact| -exact.preference()));
        assert_eq!(Exact::Loss(2).before(), Exact::Win(3));
        assert_eq!(Exact::Win(3).before(), Exact::Loss(4));
    }
}
