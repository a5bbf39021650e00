//! One byte per position: the result for the player to move and the plies until it.

use jarmo_core::game::{Proven, Verdict};

/// Decodes a byte of a table, for the player to move.
#[inline(always)]
pub fn proven(byte: u8) -> Proven {
    // A lookup instead of a branch, so that the CPU does not stall on the byte.
    MEANING[usize::from(byte)]
}

static MEANING: [Proven; 256] = meanings();

const fn meanings() -> [Proven; 256] {
    let mut table = [Proven::DRAW; 256];
    table[OVER_DRAWN as usize] = Proven::over(Verdict::Draw);
    let mut plies = 0;
    while WON as u32 + 2 * plies <= u8::MAX as u32 {
        table[lost(plies) as usize] = Proven::loss(plies);
        table[won(plies) as usize] = Proven::win(plies);
        plies += 1;
    }
    table
}

/// The byte of a drawn position.
pub(super) const DRAWN: u8 = 0;

/// The byte of a game that is over and drawn.
pub(super) const OVER_DRAWN: u8 = 1;

const LOST: u8 = 2; // and 4, 6, … one, two, … plies later
const WON: u8 = 3;

/// The byte of a position lost in this many plies.
#[inline(always)]
pub(super) const fn lost(plies: u32) -> u8 {
    LOST + 2 * plies as u8
}

/// The byte of a position won in this many plies.
#[inline(always)]
pub(super) const fn won(plies: u32) -> u8 {
    WON + 2 * plies as u8
}

/// The bytes of an unfinished layer: results below, counters above.
///
/// The counter `256 - k` means that `k` actions of the position are not yet known to lose. Distances must
/// fit below the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ActionCounters {
    first: u8, // the counter with the largest k
}

/// A set of distances in plies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Distances(pub u128);

impl Distances {
    /// Adds a distance.
    #[inline(always)]
    pub(super) fn add(&mut self, plies: u32) {
        self.0 |= 1 << plies;
    }

    /// Whether the set has this distance.
    pub(super) fn has(self, plies: u32) -> bool {
        self.0 >> plies & 1 == 1
    }

    /// The distances of either set.
    pub(super) fn or(self, other: Distances) -> Distances {
        Distances(self.0 | other.0)
    }

    /// The longest distance; 0 for the empty set.
    pub(super) fn longest(self) -> u32 {
        self.0.checked_ilog2().unwrap_or(0)
    }
}

/// The counter of a position with one action left that is not known to lose.
pub(super) const LAST_COUNTER: u8 = u8::MAX;

impl ActionCounters {
    /// Counters for up to `most` actions, at most 200.
    pub(super) fn up_to(most: u32) -> ActionCounters {
        assert!((1..=200).contains(&most), "too many counters for a byte");
        ActionCounters { first: (256 - most) as u8 }
    }

    /// The longest distance that fits below the counters.
    pub(super) fn most_plies(self) -> u32 {
        u32::from((self.first - WON - 1) / 2)
    }

    /// The counter for `count` actions; `count` is at least 1.
    #[inline(always)]
    pub(super) fn counter(self, count: u32) -> u8 {
        debug_assert!((1..=256 - u32::from(self.first)).contains(&count));
        (256 - count) as u8
    }

    /// The distances of the results among these bytes.
    pub(super) fn distances(self, bytes: &[u8]) -> Distances {
        let mut seen = [false; 256];
        for &byte in bytes {
            seen[usize::from(byte)] = true;
        }
        let mut distances = Distances::default();
        for byte in (LOST..self.first).filter(|&byte| seen[usize::from(byte)]) {
            distances.add(u32::from(byte - LOST) / 2);
        }
        distances
    }

    /// Whether the byte is a counter and not a result.
    #[inline(always)]
    pub(super) fn is_counter(self, byte: u8) -> bool {
        byte >= self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_round_trip_and_are_never_counters() {
        let counters = ActionCounters::up_to(29);
        for plies in 0..=counters.most_plies() {
            assert_eq!(proven(won(plies)), Proven::win(plies));
            assert_eq!(proven(lost(plies)), Proven::loss(plies));
            assert!(!counters.is_counter(won(plies)) && !counters.is_counter(lost(plies)));
        }
        assert!(counters.most_plies() > 100);
        assert_eq!(proven(DRAWN), Proven::DRAW);
        assert_eq!(proven(OVER_DRAWN), Proven::over(Verdict::Draw));
        assert_eq!(counters.counter(1), LAST_COUNTER);
        assert!(counters.is_counter(counters.counter(29)));
    }
}
