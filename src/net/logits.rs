//! What a network answers.

use super::config::{NetShape, RESULTS};
use super::softmax::softmax;
use crate::eval::Value;

/// What a network says about a batch of positions, before any masking.
#[derive(Clone, Debug)]
pub struct Logits {
    pub(super) shape: NetShape,
    pub(super) stride: usize,     // numbers from one row to the next
    pub(super) numbers: Vec<f32>, // [positions, stride]: policy, result, score, padding
}

impl Logits {
    /// Room for a network of this shape.
    pub fn new(shape: NetShape) -> Logits {
        Logits {
            shape,
            stride: 0,
            numbers: Vec::new(),
        }
    }

    /// Rows that somebody else computed: policy, result and score of each, `[rows, outputs]`.
    ///
    /// # Panics
    /// Panics if these are no whole rows.
    pub fn from_rows(shape: NetShape, numbers: Vec<f32>) -> Logits {
        let stride = shape.outputs();
        assert_eq!(numbers.len() % stride, 0, "whole rows");
        Logits {
            shape,
            stride,
            numbers,
        }
    }

    /// The value of a row for the player to move. `heads` is room to work in.
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
        let score = shares
            .map(|(share, place)| share * (worst + f32::from(place)))
            .sum();
        Value {
            win,
            draw,
            loss,
            score,
        }
    }

    /// One number for every action index, legal or not.
    #[inline]
    pub fn policy(&self, row: usize) -> &[f32] {
        &self.row(row)[..self.shape.actions]
    }

    /// Win, draw and loss of the player to move.
    #[inline]
    pub fn result(&self, row: usize) -> &[f32] {
        &self.row(row)[self.shape.actions..][..RESULTS]
    }

    /// The score differences of the player to move, from the worst to the best; none in games
    /// without points.
    #[inline]
    pub fn score(&self, row: usize) -> &[f32] {
        &self.row(row)[self.shape.actions + RESULTS..self.shape.outputs()]
    }

    #[inline]
    fn row(&self, row: usize) -> &[f32] {
        &self.numbers[row * self.stride..][..self.stride]
    }
}
