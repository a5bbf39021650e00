//! How well a network knew what it is about to learn: read off its logits before a step.

use serde::{Deserialize, Serialize};

use super::batch::TrainBatch;
use crate::net::softmax;

/// Equal parts of the predictions' range.
pub const BINS: usize = 10;

/// Sums over rows: how the predictions of a network compare to what search and the game came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Rows.
    pub rows: u64,
    /// The entropy of the network's policies over legal actions, in nats.
    pub policy_entropy: f64,
    /// The entropy of search's policies, in nats: the policy's loss cannot fall below it.
    pub target_entropy: f64,
    /// Rows in which the network and search prefer the same action.
    pub agreed: u64,
    /// The predicted values, from 0 to 1, by tenths, beside those to learn.
    pub bins: [Bin; BINS],
}

/// Predictions of nearly the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// How many.
    pub rows: f64,
    /// The sum of the predictions: a win counts 1, a draw one half.
    pub predicted: f64,
    /// The sum of the values to learn: the results of games, mixed with what search expected.
    pub happened: f64,
}

impl Bin {
    /// Adds other predictions of the same value.
    pub fn add(&mut self, other: &Bin) {
        self.rows += other.rows;
        self.predicted += other.predicted;
        self.happened += other.happened;
    }

    /// How much better things went than predicted, in the mean; 0 without predictions.
    pub fn gap(&self) -> f64 {
        if self.rows > 0.0 {
            (self.happened - self.predicted) / self.rows
        } else {
            0.0
        }
    }
}

impl Judgement {
    /// Adds other rows.
    pub fn add(&mut self, other: &Judgement) {
        self.rows += other.rows;
        self.policy_entropy += other.policy_entropy;
        self.target_entropy += other.target_entropy;
        self.agreed += other.agreed;
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.add(other);
        }
    }

    /// Reads the logits of policy, `[rows, actions]`, and result, `[rows, 3]`, of a batch.
    pub(super) fn of(batch: &TrainBatch, policy: &[f32], result: &[f32]) -> Judgement {
        let mut all = Judgement::default();
        let actions = batch.shape().actions;
        let targets = batch.policy().chunks_exact(actions);
        let legal = batch.legal().chunks_exact(actions);
        let mut row = Vec::new();
        for ((logits, target), legal) in policy.chunks_exact(actions).zip(targets).zip(legal) {
            row.clear();
            row.extend_from_slice(logits);
            for (logit, &legal) in row.iter_mut().zip(legal) {
                if legal == 0.0 {
                    *logit = f32::NEG_INFINITY;
                }
            }
            softmax(&mut row);
            all.policy_entropy += entropy(&row);
            all.target_entropy += entropy(target);
            all.agreed += u64::from(largest(&row) == largest(target));
        }
        for (logits, happened) in result.chunks_exact(3).zip(batch.result().chunks_exact(3)) {
            row.clear();
            row.extend_from_slice(logits);
            softmax(&mut row);
            let predicted = f64::from(row[0]) + 0.5 * f64::from(row[1]);
            let place = ((predicted * BINS as f64) as usize).min(BINS - 1);
            all.bins[place].add(&Bin {
                rows: 1.0,
                predicted,
                happened: f64::from(happened[0]) + 0.5 * f64::from(happened[1]),
            });
        }
        all.rows = batch.len() as u64;
        all
    }
}

fn entropy(shares: &[f32]) -> f64 {
    let parts = shares.iter().filter(|&&share| share > 0.0);
    -parts
        .map(|&share| f64::from(share) * f64::from(share).ln())
        .sum::<f64>()
}

/// The place of the largest number, the first of equals.
fn largest(numbers: &[f32]) -> Option<usize> {
    let mut best = None;
    for (place, &number) in numbers.iter().enumerate() {
        if best.is_none_or(|(_, most)| number > most) {
            best = Some((place, number));
        }
    }
    best.map(|(place, _)| place)
}
