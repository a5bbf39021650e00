//! An evaluator that calls a function, for tests.

use super::{Evaluation, Evaluator};
use crate::game::Game;

/// Evaluates every position with a function, which also fills the row of logits.
pub struct ScriptedEvaluator<F> {
    actions: usize,
    batch: usize,
    function: F,
}

impl<F> ScriptedEvaluator<F> {
    /// An evaluator that prefers batches of this size and calls `function(position, logits)`.
    pub fn new<G: Game>(game: &G, batch: usize, function: F) -> ScriptedEvaluator<F>
    where
        F: FnMut(&G::Position, &mut [f32]) -> Evaluation,
    {
        ScriptedEvaluator { actions: game.actions(), batch, function }
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

    fn evaluate(&mut self, positions: &[G::Position], _: &[u64], logits: &mut [f32], evaluations: &mut [Evaluation]) {
        let rows = logits.chunks_exact_mut(self.actions);
        for ((position, row), out) in positions.iter().zip(rows).zip(evaluations) {
            *out = (self.function)(position, row);
        }
    }
}
