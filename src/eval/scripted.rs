//! The evaluator that says what a function says: for tests.

use super::{Evaluation, Evaluator};
use crate::game::Game;

/// Judges every position by a function that fills its row of logits and answers.
pub struct ScriptedEvaluator<F> {
    actions: usize,
    batch: usize,
    judge: F,
}

impl<F> ScriptedEvaluator<F> {
    /// An evaluator that likes batches of this size and asks `judge(position, logits)`.
    pub fn new<G: Game>(game: &G, batch: usize, judge: F) -> ScriptedEvaluator<F>
    where
        F: FnMut(&G::Position, &mut [f32]) -> Evaluation,
    {
        ScriptedEvaluator {
            actions: game.actions(),
            batch,
            judge,
        }
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

    fn evaluate(
        &mut self,
        positions: &[G::Position],
        _: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        let rows = logits.chunks_exact_mut(self.actions);
        for ((position, row), out) in positions.iter().zip(rows).zip(evaluations) {
            *out = (self.judge)(position, row);
        }
    }
}
