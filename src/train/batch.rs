//! What one learning step looks at: targets beside features, as flat numbers.

use crate::net::{FeatureBatch, NetShape, RESULTS};

/// Rows of features with what the heads should have said about them.
#[derive(Clone, Debug)]
pub struct TrainBatch {
    shape: NetShape,
    features: FeatureBatch,
    legal: Vec<f32>,  // [rows, actions], 1 for legal actions
    policy: Vec<f32>, // [rows, actions], adding up to 1 over legal actions
    result: Vec<f32>, // [rows, 3]: win, draw, loss of the player to move
    score: Vec<f32>,  // [rows, scores], one of them 1
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

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.features.clear();
        self.legal.clear();
        self.policy.clear();
        self.result.clear();
        self.score.clear();
    }

    /// Adds a row: its set features, every legal action with its share of the policy, the
    /// probabilities of win, draw and loss, and the score difference, all for the player to move.
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

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// What the network must fit.
    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// The set features.
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
