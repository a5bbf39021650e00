//! The batch of one learning step: features and targets as flat arrays.

use jarmo_core::net::{FeatureBatch, NetShape, RESULTS};

/// Rows of features with the targets of the heads.
#[derive(Clone, Debug)]
pub struct TrainBatch {
    shape: NetShape,
    features: FeatureBatch,
    legal: Vec<f32>,  // [rows, actions], 1 for legal actions
    policy: Vec<f32>, // [rows, actions], adding up to 1 over legal actions
    result: Vec<f32>, // [rows, 3]: win, draw, loss of the player to move
    score: Vec<f32>,  // [rows, scores], one-hot
}

impl TrainBatch {
    /// No rows yet, for networks of this shape.
    pub fn new(shape: NetShape) -> TrainBatch {
        TrainBatch {
            shape,
            features: FeatureBatch::new(),
            legal: Vec::new(),
            policy: Vec::new(),
            result: Vec::new(),
            score: Vec::new(),
        }
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.features.clear();
        self.legal.clear();
        self.policy.clear();
        self.result.clear();
        self.score.clear();
    }

    /// Adds a row: the features that are 1, every legal action with its probability, the probabilities
    /// of win, draw and loss, and the score difference, all for the player to move.
    ///
    /// # Panics
    /// Panics if an action or a score is not one of the shape's.
    pub fn push(
        &mut self,
        features: impl IntoIterator<Item = u32>,
        policy: impl IntoIterator<Item = (usize, f32)>,
        result: [f32; RESULTS],
        score: i32,
    ) {
        self.features.push_indices(features);
        let start = self.policy.len();
        self.policy.resize(start + self.shape.actions, 0.0);
        self.legal.resize(start + self.shape.actions, 0.0);
        for (action, share) in policy {
            assert!(action < self.shape.actions, "an action of this game");
            self.policy[start + action] = share;
            self.legal[start + action] = 1.0;
        }
        self.result.extend(result);
        if self.shape.points > 0 {
            let place = usize::try_from(score + self.shape.points as i32)
                .expect("a score difference of this game");
            assert!(place < self.shape.scores(), "a score of this game");
            let start = self.score.len();
            self.score.resize(start + self.shape.scores(), 0.0);
            self.score[start + place] = 1.0;
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// The shape of the networks that this batch fits.
    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// The features that are 1, row by row.
    pub fn features(&self) -> &FeatureBatch {
        &self.features
    }

    pub(super) fn legal(&self) -> &[f32] {
        &self.legal
    }

    pub(super) fn policy(&self) -> &[f32] {
        &self.policy
    }

    pub(super) fn result(&self) -> &[f32] {
        &self.result
    }

    pub(super) fn score(&self) -> &[f32] {
        &self.score
    }
}
