//! The positions of a batch that an evaluator must forward to another one, because it does not know their results.

use super::{EvalBatch, Evaluator};
use crate::game::Game;

/// Positions that are forwarded to another evaluator, and its results for them.
pub(super) struct Misses<P> {
    pub(super) batch: EvalBatch<P>,
    rows: Vec<(usize, usize)>, // row of the whole batch, and row here
}

impl<P: Copy> Misses<P> {
    pub(super) fn new() -> Misses<P> {
        Misses { batch: EvalBatch::new(0), rows: Vec::new() }
    }

    /// Removes all positions. The next ones come from a batch with this many logits per position.
    pub(super) fn clear_for(&mut self, width: usize) {
        self.batch.clear_for(width);
        self.rows.clear();
    }

    /// Adds the position of a row, and returns its row here.
    pub(super) fn add(&mut self, row: usize, position: &P, seed: u64) -> usize {
        let here = self.batch.push(*position, seed);
        self.add_row(row, here);
        here
    }

    /// Adds a row that has the same position as an earlier one, which has this row here.
    pub(super) fn add_row(&mut self, row: usize, here: usize) {
        self.rows.push((row, here));
    }

    /// Submits the positions to the other evaluator.
    pub(super) fn submit<G: Game<Position = P>>(&mut self, inner: &mut impl Evaluator<G>) {
        if !self.batch.is_empty() {
            inner.submit(&mut self.batch);
        }
    }

    /// Waits for the results and copies them into their rows of the whole batch.
    pub(super) fn finish<G: Game<Position = P>>(&mut self, inner: &mut impl Evaluator<G>, whole: &mut EvalBatch<P>) {
        if !self.batch.is_empty() {
            inner.finish(&mut self.batch);
        }
        for &(row, here) in &self.rows {
            whole.evaluations[row] = *self.batch.evaluation(here);
            whole.logits_mut(row).copy_from_slice(self.batch.logits(here));
        }
    }
}
