//! What is proven about a position, as two bounds: the result that the player to move can force, and the best result
//! that is not yet excluded.

use crate::game::{Proven, Verdict};

/// The worst and the best result that perfect play can still turn out to have, for the player to move.
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

    /// The result, if both bounds agree.
    #[inline]
    pub(super) fn exact(self) -> Option<Verdict> {
        (self.lower == self.upper).then_some(self.lower)
    }

    #[inline]
    pub(super) fn is_exact(self) -> bool {
        self.lower == self.upper
    }

    /// The same bounds from the opponent's point of view.
    #[inline]
    pub(super) fn flip(self) -> Bounds {
        Bounds { lower: self.upper.flip(), upper: self.lower.flip() }
    }

    /// An expected result, limited to the bounds.
    #[inline]
    pub(super) fn clamp(self, expectation: f32) -> f32 {
        expectation.clamp(self.lower.sign().into(), self.upper.sign().into())
    }
}

/// The bounds of a position and, if the result is proven, the number of plies to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Certainty {
    pub(super) bounds: Bounds,
    plies: u16, // until the end of the game, if the result is proven
}

/// Stands for an unknown number of plies.
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

    /// The result, if both bounds agree.
    #[inline]
    pub(super) fn proven(self) -> Option<Proven> {
        let verdict = self.bounds.exact()?;
        let plies = (self.plies != UNKNOWN_PLIES).then_some(self.plies.into());
        Some(Proven { verdict, plies })
    }

    /// What this position proves about the action that leads to it. Results count one ply more, and are negated if
    /// the action passes the turn to the opponent (`turns`).
    #[inline]
    pub(super) fn before(self, turns: bool) -> Certainty {
        match self.proven() {
            Some(proven) if turns => Certainty::of(proven.flip().before()),
            Some(proven) => Certainty::of(proven.before()),
            None if turns => Certainty { bounds: self.bounds.flip(), ..self },
            None => self,
        }
    }

    /// The bounds of a position, from those of all its actions: a player can force at least the best lower bound.
    pub(super) fn best_of(children: impl Iterator<Item = Certainty> + Clone) -> Certainty {
        let mut bounds = Bounds::exactly(Verdict::Loss);
        for child in children.clone() {
            bounds.lower = bounds.lower.max(child.bounds.lower);
            bounds.upper = bounds.upper.max(child.bounds.upper);
        }
        // If the result is proven, it has the plies of the best child: the quickest win or the slowest loss.
        match children.filter_map(Certainty::proven).max_by_key(|proven| proven.preference()) {
            Some(best) if bounds.is_exact() => Certainty::of(best),
            _ => Certainty { bounds, plies: UNKNOWN_PLIES },
        }
    }
}
