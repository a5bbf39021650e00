//! The interface between search and evaluators.

use super::Value;
use crate::game::{Game, Proven};

/// The evaluation of one position, from the point of view of the player to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// The value of the position.
    pub value: Value,
    /// The proven result, if the evaluator knows it.
    pub proven: Option<Proven>,
}

impl Evaluation {
    /// An evaluation without a proven result.
    pub const fn of(value: Value) -> Evaluation {
        Evaluation { value, proven: None }
    }
}

/// Evaluates positions in batches.
///
/// The result for a position depends only on the position and its seed, never on the rest of the batch.
/// Batches contain no finished games.
pub trait Evaluator<G: Game>: Send {
    /// Whether the evaluator gives a policy. Without one, all legal actions get the same prior and the
    /// `logits` of [`Evaluator::evaluate`] are an empty slice.
    fn has_policy(&self) -> bool {
        true
    }

    /// The preferred batch size. Batches may be smaller or larger.
    fn batch(&self) -> usize {
        1
    }

    /// Evaluates each position.
    ///
    /// - `positions`, `seeds` and `evaluations` have equal lengths; `logits` has shape
    ///   `[positions, game.actions()]`, row by row.
    /// - `seeds` has a random number for each position, the only source of randomness.
    /// - `logits` may be any finite numbers. Those of illegal actions are ignored, so masking is
    ///   unnecessary.
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
