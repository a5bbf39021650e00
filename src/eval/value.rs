//! What a position is worth to the player to move.

use crate::game::{Proven, Verdict};

/// What a position is worth to the player to move: how likely each result is, and the score
/// difference to expect.
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
    /// Nothing is known: either side wins as often as the other.
    pub const EVEN: Value = Value {
        win: 0.5,
        draw: 0.0,
        loss: 0.5,
        score: 0.0,
    };

    /// The value of a known result.
    pub fn certain(verdict: Verdict, score: f32) -> Value {
        let is = |other| f32::from(u8::from(verdict == other));
        Value {
            win: is(Verdict::Win),
            draw: is(Verdict::Draw),
            loss: is(Verdict::Loss),
            score,
        }
    }

    /// The value of a result that is known without its score; a winner is at least a point ahead.
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

    /// The same position seen by the opponent. The one place where a viewpoint changes.
    #[inline]
    #[must_use]
    pub fn flip(&self) -> Value {
        Value {
            win: self.loss,
            draw: self.draw,
            loss: self.win,
            score: -self.score,
        }
    }
}
