//! How well a network's predictions fit the targets of a batch, before the training step on it.

use serde::{Deserialize, Serialize};

use crate::batch::Rows;
use jarmo_core::net::softmax;

/// The number of bins of predicted values.
pub const BINS: usize = 10;

/// Sums over rows that compare predictions with targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predictions {
    /// The number of rows.
    pub rows: u64,
    /// The entropy of the predicted policies over legal actions, in nats.
    pub policy_entropy: f64,
    /// The entropy of the policy targets, in nats: a lower bound of the policy loss.
    pub target_entropy: f64,
    /// Rows in which network and target prefer the same action.
    pub agreed: u64,
    /// Predicted values from 0 to 1, with the targets, in bins that are a tenth wide.
    pub bins: [Bin; BINS],
}

/// The predictions in one bin. A win counts 1, a draw one half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The number of predictions.
    pub rows: f64,
    /// The sum of the predictions.
    pub predicted: f64,
    /// The sum of the targets.
    pub target: f64,
}

impl Bin {
    /// Adds other predictions of the same bin.
    pub fn add(&mut self, other: &Bin) {
        self.rows += other.rows;
        self.predicted += other.predicted;
        self.target += other.target;
    }

    /// The mean of target minus prediction; 0 for an empty bin.
    pub fn gap(&self) -> f64 {
        if self.rows > 0.0 { (self.target - self.predicted) / self.rows } else { 0.0 }
    }
}

impl Predictions {
    /// Adds other rows.
    pub fn add(&mut self, other: &Predictions) {
        self.rows += other.rows;
        self.policy_entropy += other.policy_entropy;
        self.target_entropy += other.target_entropy;
        self.agreed += other.agreed;
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.add(other);
        }
    }

    /// Compares logits of policy, `[rows, places]`, and result, `[rows, 3]`, with the targets of a batch.
    pub(crate) fn of(rows: &Rows, policy: &[f32], result: &[f32]) -> Predictions {
        let mut all = Predictions::default();
        let mut row = Vec::new();
        let policies = policy.chunks_exact(rows.places).zip(rows.policy.chunks_exact(rows.places));
        for ((logits, target), &legal) in policies.zip(&rows.legal) {
            let target = &target[..legal];
            row.clear();
            row.extend_from_slice(&logits[..legal]);
            softmax(&mut row);
            all.policy_entropy += entropy(&row);
            all.target_entropy += entropy(target);
            all.agreed += u64::from(largest(&row) == largest(target));
        }
        for (logits, target) in result.chunks_exact(3).zip(rows.result.chunks_exact(3)) {
            row.clear();
            row.extend_from_slice(logits);
            softmax(&mut row);
            let predicted = f64::from(row[0]) + 0.5 * f64::from(row[1]);
            let place = ((predicted * BINS as f64) as usize).min(BINS - 1);
            all.bins[place].add(&Bin {
                rows: 1.0,
                predicted,
                target: f64::from(target[0]) + 0.5 * f64::from(target[1]),
            });
        }
        all.rows = rows.features.len() as u64;
        all
    }
}

fn entropy(shares: &[f32]) -> f64 {
    let parts = shares.iter().filter(|&&share| share > 0.0);
    -parts.map(|&share| f64::from(share) * f64::from(share).ln()).sum::<f64>()
}

/// The index of the largest number; if several are equal, of the first.
fn largest(numbers: &[f32]) -> Option<usize> {
    // `max_by` returns the last of equal ones.
    let reversed = numbers.iter().enumerate().rev();
    reversed.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(place, _)| place)
}
