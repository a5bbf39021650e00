//! Samples as the arrays of one learning step.

use jarmo_core::net::{FeatureBatch, NetShape};
use jarmo_selfplay::replay::Samples;

/// Rows of features with the targets of the heads.
pub(super) struct Rows {
    pub(super) actions: usize, // the width of `legal` and `policy`
    pub(super) features: FeatureBatch,
    pub(super) legal: Vec<f32>,  // [rows, actions], 1 for legal actions
    pub(super) policy: Vec<f32>, // [rows, actions], adding up to 1 over legal actions
    pub(super) result: Vec<f32>, // [rows, 3]: win, draw, loss of the player to move
    pub(super) score: Vec<f32>,  // [rows, scores], one-hot
}

impl Rows {
    /// The arrays of a batch, for a network of this shape.
    ///
    /// # Panics
    /// Panics if an action or a score is not one of the shape's.
    pub(super) fn of(batch: &Samples, shape: &NetShape) -> Rows {
        let (count, actions, scores) = (batch.len(), shape.actions, shape.scores());
        let mut rows = Rows {
            actions,
            features: FeatureBatch::new(),
            legal: vec![0.0; count * actions],
            policy: vec![0.0; count * actions],
            result: Vec::with_capacity(3 * count),
            score: vec![0.0; count * scores],
        };
        for (row, sample) in batch.iter().enumerate() {
            let features = sample.features.iter();
            rows.features.push_indices(features.map(|&set| set.into()));
            let legal = &mut rows.legal[row * actions..][..actions];
            let policy = &mut rows.policy[row * actions..][..actions];
            for (&action, &share) in sample.actions.iter().zip(sample.policy) {
                legal[usize::from(action)] = 1.0;
                policy[usize::from(action)] = share;
            }
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
