//! What an evaluator that stands in front of another one passes on to it.

use super::{Evaluation, Evaluator, Value};
use crate::game::Game;

/// The positions of a batch that the evaluator in front has no answer to. Several rows may ask for the same one.
pub(super) struct Passed<G: Game> {
    pub(super) positions: Vec<G::Position>,
    pub(super) logits: Vec<f32>,             // [positions, actions]
    pub(super) evaluations: Vec<Evaluation>, // [positions]
    seeds: Vec<u64>,
    rows: Vec<(usize, usize)>, // row of the batch, index here
}

impl<G: Game> Passed<G> {
    pub(super) fn new() -> Passed<G> {
        Passed {
            positions: Vec::new(),
            logits: Vec::new(),
            evaluations: Vec::new(),
            seeds: Vec::new(),
            rows: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.positions.clear();
        self.seeds.clear();
        self.rows.clear();
    }

    /// Adds a position for a row.
    pub(super) fn add(&mut self, row: usize, position: G::Position, seed: u64) {
        self.rows.push((row, self.positions.len()));
        self.positions.push(position);
        self.seeds.push(seed);
    }

    /// Answers a row as the position at this index.
    pub(super) fn repeat(&mut self, row: usize, index: usize) {
        self.rows.push((row, index));
    }

    /// Evaluates the positions and answers their rows of the batch.
    pub(super) fn evaluate<E: Evaluator<G>>(
        &mut self,
        behind: &mut E,
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        let count = self.positions.len();
        if count == 0 {
            return;
        }
        let width = logits.len() / evaluations.len(); // 0 without a policy
        self.logits.resize(count * width, 0.0);
        self.evaluations.resize(count, Evaluation::of(Value::EVEN));
        behind.evaluate(
            &self.positions,
            &self.seeds,
            &mut self.logits,
            &mut self.evaluations,
        );
        for &(row, index) in &self.rows {
            evaluations[row] = self.evaluations[index];
            logits[row * width..][..width].copy_from_slice(&self.logits[index * width..][..width]);
        }
    }
}
