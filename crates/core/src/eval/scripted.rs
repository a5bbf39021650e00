//! An evaluator that calls a function, for tests.

use super::{EvalBatch, Evaluation, Evaluator};
use crate::game::Game;

/// Evaluates every position with a function, which also writes the row of logits.
pub struct ScriptedEvaluator<F> {
    batch: usize,
    function: F,
}

impl<F> ScriptedEvaluator<F> {
    /// An evaluator that prefers batches of this size and calls `function(position, logits)`.
    pub fn new<G: Game>(_: &G, batch: usize, function: F) -> ScriptedEvaluator<F>
    where
        F: FnMut(&G::Position, &mut [f32]) -> Evaluation,
    {
        ScriptedEvaluator { batch, function }
    }
}

impl<G, F> Evaluator<G> for ScriptedEvaluator<F>
where
    G: Game,
    F: FnMut(&G::Position, &mut [f32]) -> Evaluation + Send,
{
    fn batch(&self) -> usize {
        self.batch
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        for row in batch.rows() {
            *row.evaluation = (self.function)(row.position, row.logits);
        }
    }
}
