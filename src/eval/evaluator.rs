//! The seam between search and whatever judges positions.

use super::Value;
use crate::game::{Game, Proven};

/// What an evaluator says of one position, for the player to move there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// What the position is worth.
    pub value: Value,
    /// The result, from an evaluator that knows it for certain.
    pub proven: Option<Proven>,
}

impl Evaluation {
    /// A judgement without certainty.
    pub const fn of(value: Value) -> Evaluation {
        Evaluation {
            value,
            proven: None,
        }
    }
}

/// Judges positions, a batch at a time.
///
/// The answer for a position depends on the position and its seed alone, never on its neighbours in
/// the batch. No position of a batch is over.
pub trait Evaluator<G: Game>: Send {
    /// Whether it has an opinion on actions. Without one, every legal action counts as equally
    /// likely and the `logits` of [`Evaluator::evaluate`] are an empty slice.
    fn has_policy(&self) -> bool {
        true
    }

    /// How many positions it would like to get at once. Callers may bring fewer, or more.
    fn batch(&self) -> usize {
        1
    }

    /// Judges each position.
    ///
    /// - `positions`, `seeds` and `evaluations` are equally long; `logits` is
    ///   `[positions, game.actions()]`, row by row.
    /// - `seeds`: a random number for each position; all the randomness there is.
    /// - `logits` take any finite numbers; those of illegal actions are never read, so nothing
    ///   needs to be masked.
    fn evaluate(
        &mut self,
        positions: &[G::Position],
        seeds: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    );
}

impl<G: Game, E: Evaluator<G> + ?Sized> Evaluator<G> for Box<E> {
    fn has_policy(&self) -> bool {
        (**self).has_policy()
    }

    fn batch(&self) -> usize {
        (**self).batch()
    }

    fn evaluate(
        &mut self,
        positions: &[G::Position],
        seeds: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        (**self).evaluate(positions, seeds, logits, evaluations);
    }
}
