//! A batch of positions for an evaluator, and its evaluation of each.

use super::Value;
use crate::game::Proven;

/// The evaluation of one position, from the point of view of the player to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// The value of the position.
    pub value: Value,
    /// The proven result, if the evaluator is certain of it.
    pub proven: Option<Proven>,
}

impl Evaluation {
    /// An evaluation without a proven result.
    pub const fn of(value: Value) -> Evaluation {
        Evaluation { value, proven: None }
    }
}

/// Positions to evaluate, each with a seed, its row of logits and its evaluation. The memory is reused after
/// [`EvalBatch::clear`].
#[derive(Clone, Debug)]
pub struct EvalBatch<P> {
    width: usize, // logits per position
    pub(super) positions: Vec<P>,
    pub(super) seeds: Vec<u64>,
    // Of at least as many positions. What earlier batches left there is overwritten by the evaluator.
    pub(super) logits: Vec<f32>, // [positions, width]
    pub(super) evaluations: Vec<Evaluation>,
}

/// One position of a batch.
#[derive(Debug)]
pub struct EvalRow<'a, P> {
    /// The position, whose game is not over.
    pub position: &'a P,
    /// The only source of randomness of its evaluation.
    pub seed: u64,
    /// A logit for each action of the game, to be written by the evaluator; empty for an evaluator without a policy.
    /// The logits must be finite. Those of illegal actions are ignored, so evaluators need not mask them.
    pub logits: &'a mut [f32],
    /// The evaluation, to be written.
    pub evaluation: &'a mut Evaluation,
}

impl<P> EvalBatch<P> {
    /// An empty batch with this many logits per position: the number of actions of the game, or 0 for an evaluator
    /// without a policy.
    pub fn new(width: usize) -> EvalBatch<P> {
        EvalBatch { width, positions: Vec::new(), seeds: Vec::new(), logits: Vec::new(), evaluations: Vec::new() }
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.seeds.clear();
    }

    /// Removes all positions. The next ones have this many logits.
    pub fn clear_for(&mut self, width: usize) {
        self.clear();
        self.width = width;
    }

    /// Adds a position, and returns its row. `seed` is a random number.
    #[inline]
    pub fn push(&mut self, position: P, seed: u64) -> usize {
        let row = self.positions.len();
        self.positions.push(position);
        self.seeds.push(seed);
        let rows = row + 1;
        if self.evaluations.len() < rows {
            self.evaluations.push(Evaluation::of(Value::EVEN));
        }
        if self.logits.len() < rows * self.width {
            self.logits.resize(rows * self.width, 0.0);
        }
        row
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The number of logits per position.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The positions.
    pub fn positions(&self) -> &[P] {
        &self.positions
    }

    /// The positions with their results, to be written.
    pub fn rows(&mut self) -> impl Iterator<Item = EvalRow<'_, P>> {
        let width = self.width;
        let mut rest = &mut self.logits[..];
        let positions = self.positions.iter().zip(&self.seeds);
        positions.zip(&mut self.evaluations).map(move |((position, &seed), evaluation)| {
            let (logits, others) = std::mem::take(&mut rest).split_at_mut(width);
            rest = others;
            EvalRow { position, seed, logits, evaluation }
        })
    }

    /// The logits of a row.
    #[inline]
    pub fn logits(&self, row: usize) -> &[f32] {
        &self.logits[row * self.width..][..self.width]
    }

    /// The logits of a row, to be written.
    #[inline]
    pub(super) fn logits_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.logits[row * self.width..][..self.width]
    }

    /// The evaluation of a row.
    #[inline]
    pub fn evaluation(&self, row: usize) -> &Evaluation {
        &self.evaluations[row]
    }
}
