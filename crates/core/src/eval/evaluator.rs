//! The interface between search and evaluators, and an evaluator without any knowledge.

use super::Value;
use crate::game::{Action, Game, Mask, Proven};

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

/// Evaluates every position as even and every action as equally likely. A baseline for search alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<G: Game> Evaluator<G> for Uniform {
    fn has_policy(&self) -> bool {
        false
    }

    fn evaluate(&mut self, _: &[G::Position], _: &[u64], _: &mut [f32], evaluations: &mut [Evaluation]) {
        evaluations.fill(Evaluation::of(Value::EVEN));
    }
}

/// The legal action with the highest logit; ties go to the first action. `logits` has a number for every
/// action of the game; those of illegal actions are ignored.
///
/// # Panics
/// Panics if no action is legal.
pub fn favourite<M: Mask>(legal: &M, logits: &[f32]) -> Action {
    let better = |best: Action, action: Action| {
        if logits[action.index()] > logits[best.index()] { action } else { best }
    };
    legal.iter().reduce(better).expect("an action is legal")
}
