//! The positions of a batch that an evaluator does not know itself.

use super::{Evaluation, Evaluator, Value};
use crate::game::Game;

/// The positions of a batch that are passed on to another evaluator, and its results.
pub(super) struct Rest<P> {
    positions: Vec<P>,
    seeds: Vec<u64>,
    logits: Vec<f32>, // [positions, width]
    evaluations: Vec<Evaluation>,
    rows: Vec<(usize, usize)>, // row of the batch, index of its position
}

impl<P: Copy> Rest<P> {
    pub(super) fn new() -> Rest<P> {
        Rest { positions: Vec::new(), seeds: Vec::new(), logits: Vec::new(), evaluations: Vec::new(), rows: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.positions.clear();
        self.seeds.clear();
        self.rows.clear();
    }

    /// The number of positions.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Passes on the position of a row, and returns its index.
    pub(super) fn add(&mut self, row: usize, position: &P, seed: u64) -> usize {
        let index = self.positions.len();
        self.positions.push(*position);
        self.seeds.push(seed);
        self.add_row(row, index);
        index
    }

    /// Adds a row with the position of this index.
    pub(super) fn add_row(&mut self, row: usize, index: usize) {
        self.rows.push((row, index));
    }

    /// Evaluates the positions, with `width` logits for each, and copies the results into the rows of the batch.
    pub(super) fn evaluate<G: Game<Position = P>>(
        &mut self,
        inner: &mut impl Evaluator<G>,
        width: usize,
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        let count = self.len();
        if count == 0 {
            return;
        }
        self.logits.resize(count * width, 0.0);
        self.evaluations.resize(count, Evaluation::of(Value::EVEN));
        let (own_logits, own_evaluations) = (&mut self.logits, &mut self.evaluations);
        inner.evaluate(&self.positions, &self.seeds, own_logits, own_evaluations);
        for &(row, index) in &self.rows {
            let (_, evaluation, own) = self.result(index, width);
            evaluations[row] = evaluation;
            logits[row * width..][..width].copy_from_slice(own);
        }
    }

    /// A position, its evaluation and its logits.
    pub(super) fn result(&self, index: usize, width: usize) -> (P, Evaluation, &[f32]) {
        let logits = &self.logits[index * width..][..width];
        (self.positions[index], self.evaluations[index], logits)
    }
}
