//! What is certain about a position: the least and the most its player to move can reach.

use crate::game::{Proven, Verdict};

/// The least and the most that best play can lead to, for the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lower: Verdict,
    pub(super) upper: Verdict,
}

/// The plies until the end are not known.
pub(super) const UNKNOWN_PLIES: u16 = u16::MAX;

impl Bounds {
    pub(super) const UNKNOWN: Bounds = Bounds {
        lower: Verdict::Loss,
        upper: Verdict::Win,
    };

    pub(super) const fn exactly(verdict: Verdict) -> Bounds {
        Bounds {
            lower: verdict,
            upper: verdict,
        }
    }

    /// The result, if only one is left.
    #[inline]
    pub(super) fn exact(self) -> Option<Verdict> {
        (self.lower == self.upper).then_some(self.lower)
    }

    #[inline]
    pub(super) fn is_exact(self) -> bool {
        self.lower == self.upper
    }

    /// The same seen by the opponent.
    #[inline]
    pub(super) fn flip(self) -> Bounds {
        Bounds {
            lower: self.upper.flip(),
            upper: self.lower.flip(),
        }
    }

    /// The expected result, brought between the bounds.
    #[inline]
    pub(super) fn clamp(self, expectation: f32) -> f32 {
        expectation.clamp(self.lower.sign().into(), self.upper.sign().into())
    }
}

/// The bounds of a position and the plies until its end, from those of everything that its player to
/// move can do. A win is as quick as the quickest, a loss as late as the latest.
pub(super) fn best_of(children: impl Iterator<Item = (Bounds, u16)> + Clone) -> (Bounds, u16) {
    let mut bounds = Bounds::exactly(Verdict::Loss);
    for (child, _) in children.clone() {
        bounds.lower = bounds.lower.max(child.lower);
        bounds.upper = bounds.upper.max(child.upper);
    }
    let plies = children
        .filter(|(child, _)| Some(*child) == bounds.exact().map(Bounds::exactly))
        .map(|(_, plies)| plies);
    let plies = match bounds.exact() {
        Some(Verdict::Win) => plies.min(),
        Some(Verdict::Loss) => plies.max(),
        _ => None,
    };
    (bounds, plies.unwrap_or(UNKNOWN_PLIES))
}

/// Bounds and plies as they are told outside, if they are certain.
pub(super) fn proven(bounds: Bounds, plies: u16) -> Option<Proven> {
    let plies = (plies != UNKNOWN_PLIES).then_some(plies.into());
    bounds.exact().map(|verdict| (verdict, plies))
}

/// How a certain result ranks among others: a win the quicker the better, a loss the later the better.
pub(super) fn rank(verdict: Verdict, plies: u16) -> i32 {
    let plies = i32::from(plies);
    match verdict {
        Verdict::Win => 0x20000 - plies,
        Verdict::Draw => 0,
        Verdict::Loss => plies - 0x20000,
    }
}
