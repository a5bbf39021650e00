//! The outputs of a network.

use std::ops::Range;

use super::settings::{NetShape, RESULTS};
use crate::eval::Value;

/// The outputs of a network for a batch of positions, unmasked.
#[derive(Clone, Debug)]
pub struct Logits {
    pub(super) shape: NetShape,
    pub(super) stride: usize,     // the distance between rows
    pub(super) numbers: Vec<f32>, // [positions, stride]: policy, result, score, padding
}

impl Logits {
    /// An empty buffer for a network of this shape.
    pub fn new(shape: NetShape) -> Logits {
        Logits { shape, stride: 0, numbers: Vec::new() }
    }

    /// Logits from the outputs of a network: policy, result and points of each row, `[rows, outputs]`.
    ///
    /// # Panics
    /// Panics if the numbers are not whole rows.
    pub fn from_rows(shape: NetShape, numbers: Vec<f32>) -> Logits {
        let stride = shape.outputs();
        assert_eq!(numbers.len() % stride, 0, "whole rows");
        Logits { shape, stride, numbers }
    }

    /// Some of the rows.
    pub fn part(&self, rows: Range<usize>) -> Logits {
        let numbers = self.numbers[rows.start * self.stride..rows.end * self.stride].to_vec();
        Logits { numbers, ..*self }
    }

    /// The value of a row for the player to move. `heads` is scratch space.
    pub fn value(&self, row: usize, heads: &mut Vec<f32>) -> Value {
        heads.clear();
        heads.extend_from_slice(self.result(row));
        softmax(heads);
        let [win, draw, loss] = heads[..] else {
            unreachable!("three results");
        };
        heads.clear();
        heads.extend_from_slice(self.score(row));
        softmax(heads);
        let worst = -(self.shape.points as f32);
        let shares = heads.iter().zip(0_u16..);
        let score = shares.map(|(share, place)| share * (worst + f32::from(place))).sum();
        Value { win, draw, loss, score }
    }

    /// The logits of all actions, legal or not.
    #[inline]
    pub fn policy(&self, row: usize) -> &[f32] {
        &self.row(row)[..self.shape.actions]
    }

    /// The logits of win, draw and loss of the player to move.
    #[inline]
    pub fn result(&self, row: usize) -> &[f32] {
        &self.row(row)[self.shape.actions..][..RESULTS]
    }

    /// The logits of the point differences for the player to move, lowest first; empty in games without points.
    #[inline]
    pub fn score(&self, row: usize) -> &[f32] {
        &self.row(row)[self.shape.actions + RESULTS..self.shape.outputs()]
    }

    #[inline]
    fn row(&self, row: usize) -> &[f32] {
        &self.numbers[row * self.stride..][..self.stride]
    }
}

/// Turns logits into probabilities that add up to 1. An empty slice stays empty.
pub fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - largest).exp();
        sum += *logit;
    }
    for share in logits {
        *share /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::softmax;

    #[test]
    fn shares_add_up_and_large_logits_do_not_overflow() {
        let mut shares = [1000.0, 1000.0 + std::f32::consts::LN_2, 0.0];
        softmax(&mut shares);
        for (share, expected) in shares.iter().zip([1.0 / 3.0, 2.0 / 3.0, 0.0]) {
            assert!((share - expected).abs() < 1e-4, "{shares:?}");
        }
        softmax(&mut []);
    }
}
