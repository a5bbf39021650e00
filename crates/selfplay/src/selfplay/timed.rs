//! An evaluator that measures its time.

use std::time::{Duration, Instant};

use jarmo_core::eval::{Evaluation, Evaluator};
use jarmo_core::game::Game;

/// Measures the time spent in another evaluator.
pub(super) struct Timed<E> {
    inner: E,
    spent: Duration,
}

impl<E> Timed<E> {
    pub(super) fn new(inner: E) -> Timed<E> {
        Timed { inner, spent: Duration::ZERO }
    }

    /// The measured evaluator.
    pub(super) fn inner_mut(&mut self) -> &mut E {
        &mut self.inner
    }

    /// The time in the evaluator so far.
    pub(super) fn spent(&self) -> Duration {
        self.spent
    }
}

impl<G: Game, E: Evaluator<G>> Evaluator<G> for Timed<E> {
    fn has_policy(&self) -> bool {
        self.inner.has_policy()
    }

    fn batch(&self) -> usize {
        self.inner.batch()
    }

    fn evaluate(
        &mut self,
        positions: &[G::Position],
        seeds: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        let start = Instant::now();
        self.inner.evaluate(positions, seeds, logits, evaluations);
        self.spent += start.elapsed();
    }
}
