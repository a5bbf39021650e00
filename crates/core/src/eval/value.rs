//! The value of a position.

use crate::game::{Proven, Verdict};

/// The value of a position for the player to move: probabilities of the results and the expected score difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Probability that the player to move wins.
    pub win: f32,
    /// Probability of a draw.
    pub draw: f32,
    /// Probability that the player to move loses.
    pub loss: f32,
    /// Expected own points minus the opponent's at the end; 0 in games without points.
    pub score: f32,
}

impl Value {
    /// The value of a position about which nothing is known: both sides win equally often.
    pub const EVEN: Value = Value { win: 0.5, draw: 0.0, loss: 0.5, score: 0.0 };

    /// The value of a known result.
    pub fn certain(verdict: Verdict, score: f32) -> Value {
        let is = |other| f32::from(u8::from(verdict == other));
        Value { win: is(Verdict::Win), draw: is(Verdict::Draw), loss: is(Verdict::Loss), score }
    }

    /// The value of a proven result. Its score is unknown; 1 point is the least that a winner leads by.
    pub fn proven(proven: Proven) -> Value {
        Value::certain(proven.verdict, proven.verdict.sign().into())
    }

    /// The expected result, from -1 (lost) to +1 (won).
    #[inline]
    pub fn expectation(&self) -> f32 {
        self.win - self.loss
    }

    /// The probabilities of win, draw and loss.
    #[inline]
    pub fn results(&self) -> [f32; 3] {
        [self.win, self.draw, self.loss]
    }

    /// The same value from the opponent's point of view. Values change viewpoint nowhere else.
    #[inline]
    #[must_use]
    pub fn flip(&self) -> Value {
        Value { win: self.loss, draw: self.draw, loss: self.win, score: -self.score }
    }
}
