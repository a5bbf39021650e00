//! The interface between search and evaluators, and an evaluator that knows nothing.

use super::{EvalBatch, Evaluation, Value};
use crate::game::{Action, Game, Mask};

/// Evaluates batches of positions.
///
/// The result for a position depends only on the position and its seed, never on the rest of the batch. The games in
/// a batch are not over.
pub trait Evaluator<G: Game>: Send {
    /// Whether the evaluator has a policy. Otherwise all legal actions get the same prior, and batches have no logits.
    fn has_policy(&self) -> bool {
        true
    }

    /// The batch size at which the evaluator is most efficient. Batches may be smaller or larger.
    fn batch(&self) -> usize {
        1
    }

    /// Evaluates each position of a batch: writes its evaluation and, if there is a policy, its logits.
    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>);

    /// Starts to evaluate a batch, which is complete after [`Evaluator::finish`] with the same batch. Between the two
    /// the caller can work for other batches while a GPU computes this one. On a CPU everything is computed here.
    fn submit(&mut self, batch: &mut EvalBatch<G::Position>) {
        self.evaluate(batch);
    }

    /// Waits for the evaluations of the submitted batch, and writes them.
    fn finish(&mut self, _batch: &mut EvalBatch<G::Position>) {}
}

impl<G: Game, E: Evaluator<G> + ?Sized> Evaluator<G> for Box<E> {
    fn has_policy(&self) -> bool {
        (**self).has_policy()
    }

    fn batch(&self) -> usize {
        (**self).batch()
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        (**self).evaluate(batch);
    }

    fn submit(&mut self, batch: &mut EvalBatch<G::Position>) {
        (**self).submit(batch);
    }

    fn finish(&mut self, batch: &mut EvalBatch<G::Position>) {
        (**self).finish(batch);
    }
}

/// Evaluates every position as even and every action as equally likely. With it, one can test search without
/// knowledge of the game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<G: Game> Evaluator<G> for Uniform {
    fn has_policy(&self) -> bool {
        false
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        batch.rows().for_each(|row| *row.evaluation = Evaluation::of(Value::EVEN));
    }
}

/// The legal action with the largest logit; ties go to the first action. `logits` has one number per action of the
/// game. Those of illegal actions are ignored.
///
/// # Panics
/// Panics if no action is legal.
pub fn favourite<M: Mask>(legal: &M, logits: &[f32]) -> Action {
    let better = |best: Action, action: Action| {
        if logits[action.index()] > logits[best.index()] { action } else { best }
    };
    legal.iter().reduce(better).expect("an action is legal")
}
