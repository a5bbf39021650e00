//! The value of a position.

use crate::game::{Proven, Verdict};

/// The value of a position for the player to move: the probabilities of the three results, and the expected point
/// difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Probability that the player to move wins.
    pub win: f32,
    /// Probability of a draw.
    pub draw: f32,
    /// Probability that the player to move loses.
    pub loss: f32,
    /// The expected point difference at the end of the game: own points minus the opponent's. 0 in games without
    /// points.
    pub score: f32,
}

impl Value {
    /// The value of a position about which nothing is known. Both players win equally often.
    pub const EVEN: Value = Value { win: 0.5, draw: 0.0, loss: 0.5, score: 0.0 };

    /// The value of a result that is certain.
    pub fn certain(verdict: Verdict, score: f32) -> Value {
        let is = |other| f32::from(u8::from(verdict == other));
        Value { win: is(Verdict::Win), draw: is(Verdict::Draw), loss: is(Verdict::Loss), score }
    }

    /// The value of a proven result. The point difference is unknown; a winner leads by at least 1.
    pub fn proven(proven: Proven) -> Value {
        Value::certain(proven.verdict, proven.verdict.sign().into())
    }

    /// The expected result, from -1 (loss) to +1 (win).
    #[inline]
    pub fn expectation(&self) -> f32 {
        self.win - self.loss
    }

    /// The probabilities of win, draw and loss.
    #[inline]
    pub fn results(&self) -> [f32; 3] {
        [self.win, self.draw, self.loss]
    }

    /// The same value from the opponent's point of view.
    #[inline]
    #[must_use]
    pub fn flip(&self) -> Value {
        Value { win: self.loss, draw: self.draw, loss: self.win, score: -self.score }
    }
}
