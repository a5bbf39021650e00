//! Samples as the arrays of one training step.

use jarmo_core::net::{FeatureBatch, NetShape};
use jarmo_selfplay::replay::Samples;

/// Rows of features with the targets of the heads. Most actions are illegal, so a row has *places* only for legal ones:
/// as many as the row with the most legal actions needs.
pub(crate) struct Rows {
    pub(crate) features: FeatureBatch,
    pub(crate) places: usize,     // of a row in `actions`, `legal` and `policy`
    pub(crate) actions: Vec<i32>, // [rows, places]; empty places repeat an action of the row
    pub(crate) legal: Vec<usize>, // how many places of each row are taken; they come first
    pub(crate) policy: Vec<f32>,  // [rows, places], adding up to 1; 0 in empty places
    pub(crate) result: Vec<f32>,  // [rows, 3]: win, draw, loss of the player to move
    pub(crate) score: Vec<f32>,   // [rows, scores], one-hot
}

impl Rows {
    /// The arrays of a batch, for a network of this shape.
    ///
    /// # Panics
    /// Panics if an action or a score does not belong to the shape.
    pub(crate) fn of(batch: &Samples, shape: &NetShape) -> Rows {
        let (count, scores) = (batch.len(), shape.scores());
        let legal: Vec<usize> = batch.iter().map(|sample| sample.actions.len()).collect();
        let places = legal.iter().copied().max().unwrap_or(0);
        let mut rows = Rows {
            features: FeatureBatch::new(),
            places,
            actions: Vec::with_capacity(count * places),
            legal,
            policy: Vec::with_capacity(count * places),
            result: Vec::with_capacity(3 * count),
            score: vec![0.0; count * scores],
        };
        for (row, sample) in batch.iter().enumerate() {
            let features = sample.features.iter();
            rows.features.push_indices(features.map(|&set| set.into()));
            assert!(sample.actions.iter().all(|&action| usize::from(action) < shape.actions), "an action of this game");
            rows.actions.extend(sample.actions.iter().map(|&action| i32::from(action)));
            rows.policy.extend(sample.policy);
            let (end, some) = ((row + 1) * places, i32::from(sample.actions[0]));
            rows.actions.resize(end, some);
            rows.policy.resize(end, 0.0);
            rows.result.extend(sample.result);
            if scores > 0 {
                let place = i32::from(sample.score) + shape.points as i32;
                let place = usize::try_from(place).expect("a score difference of this game");
                rows.score[row * scores..][..scores][place] = 1.0;
            }
        }
        rows
    }
}
