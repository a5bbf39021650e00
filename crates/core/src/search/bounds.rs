//! What is proven about a position: the best result that its player to move is sure of, and the best
//! result that is still possible.

use crate::game::{Proven, Verdict};

/// The worst and the best possible result of best play, for the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lower: Verdict,
    pub(super) upper: Verdict,
}

impl Bounds {
    pub(super) const UNKNOWN: Bounds = Bounds { lower: Verdict::Loss, upper: Verdict::Win };

    pub(super) const fn exactly(verdict: Verdict) -> Bounds {
        Bounds { lower: verdict, upper: verdict }
    }

    /// The result, if only one is possible.
    #[inline]
    pub(super) fn exact(self) -> Option<Verdict> {
        (self.lower == self.upper).then_some(self.lower)
    }

    #[inline]
    pub(super) fn is_exact(self) -> bool {
        self.lower == self.upper
    }

    /// The same bounds for the opponent.
    #[inline]
    pub(super) fn flip(self) -> Bounds {
        Bounds { lower: self.upper.flip(), upper: self.lower.flip() }
    }

    /// The expected result, limited to the bounds.
    #[inline]
    pub(super) fn clamp(self, expectation: f32) -> f32 {
        expectation.clamp(self.lower.sign().into(), self.upper.sign().into())
    }
}

/// Bounds and the plies to a proven result, packed for the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Certainty {
    pub(super) bounds: Bounds,
    plies: u16, // until the end, if the result is proven
}

/// The plies until the end are unknown.
const UNKNOWN_PLIES: u16 = u16::MAX;

impl Certainty {
    pub(super) const NONE: Certainty = Certainty { bounds: Bounds::UNKNOWN, plies: UNKNOWN_PLIES };

    pub(super) fn of(proven: Proven) -> Certainty {
        let most = u32::from(UNKNOWN_PLIES) - 1;
        Certainty {
            bounds: Bounds::exactly(proven.verdict),
            plies: proven.plies.map_or(UNKNOWN_PLIES, |plies| plies.min(most) as u16),
        }
    }

    #[inline]
    pub(super) fn is_known(self) -> bool {
        self.bounds != Bounds::UNKNOWN
    }

    /// The result, if only one is possible.
    #[inline]
    pub(super) fn proven(self) -> Option<Proven> {
        let verdict = self.bounds.exact()?;
        let plies = (self.plies != UNKNOWN_PLIES).then_some(self.plies.into());
        Some(Proven { verdict, plies })
    }

    /// The same one ply earlier, for the opponent if the player to move changes there.
    #[inline]
    pub(super) fn before(self, turns: bool) -> Certainty {
        match self.proven() {
            Some(proven) if turns => Certainty::of(proven.flip().before()),
            Some(proven) => Certainty::of(proven.before()),
            None if turns => Certainty { bounds: self.bounds.flip(), ..self },
            None => self,
        }
    }

    /// The bounds of a position from those of all its actions.
    pub(super) fn best_of(children: &[Certainty]) -> Certainty {
        let mut bounds = Bounds::exactly(Verdict::Loss);
        for child in children {
            bounds.lower = bounds.lower.max(child.bounds.lower);
            bounds.upper = bounds.upper.max(child.bounds.upper);
        }
        // With equal bounds, the result is that of the best child.
        match children.iter().filter_map(|child| child.proven()).max_by_key(|proven| proven.preference()) {
            Some(best) if bounds.is_exact() => Certainty::of(best),
            _ => Certainty { bounds, plies: UNKNOWN_PLIES },
        }
    }
}
