//! The loss of a batch.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::Serialize;

use crate::batch::Rows;
use crate::network::Outputs;
use crate::predictions::Predictions;
use crate::tensors::{matrix, numbers};

/// Added to the logits of empty places. Their probability becomes 0, and nothing overflows.
const EMPTY: f32 = -1e9;

const POLICY_WEIGHT: f32 = 1.0;
const RESULT_WEIGHT: f32 = 1.0;
const SCORE_WEIGHT: f32 = 0.25;

/// The loss of one batch and its parts, as means over its rows, in nats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// The weighted sum of the parts, which training minimises.
    pub total: f32,
    /// Cross-entropy of the policy.
    pub policy: f32,
    /// Cross-entropy of win, draw and loss.
    pub result: f32,
    /// Cross-entropy of the score difference; 0 in games without points.
    pub score: f32,
}

/// The loss of these outputs as a tensor. If it is to be measured, its parts as numbers, and how good the predictions
/// are.
pub(crate) fn losses(
    rows: &Rows,
    outputs: Outputs,
    device: &Device,
    measured: bool,
) -> (Tensor<1>, Option<(Losses, Predictions)>) {
    let Outputs { policy, result, score } = outputs;
    let actions = TensorData::new(rows.actions.clone(), [rows.legal.len(), rows.places]);
    let policy = policy.gather(1, Tensor::<2, Int>::from_data(actions, device));
    let predictions = measured.then(|| {
        let [of_policy, of_result] = [&policy, &result].map(|logits| numbers(logits.clone().detach()));
        Predictions::of(rows, &of_policy, &of_result)
    });
    let empty =
        rows.legal.iter().flat_map(|&legal| (0..rows.places).map(move |place| if place < legal { 0.0 } else { EMPTY }));
    let masked = policy + matrix(empty.collect(), [rows.legal.len(), rows.places], device);
    let policy = cross_entropy(masked, &rows.policy, device);
    let result = cross_entropy(result, &rows.result, device);
    let score = score.filter(|_| !rows.score.is_empty()).map(|score| cross_entropy(score, &rows.score, device));
    let mut total = policy.clone() * POLICY_WEIGHT + result.clone() * RESULT_WEIGHT;
    if let Some(score) = &score {
        total = total + score.clone() * SCORE_WEIGHT;
    }
    let measured = predictions.map(|predictions| {
        let losses = Losses {
            total: number(total.clone()),
            policy: number(policy),
            result: number(result),
            score: score.map_or(0.0, number),
        };
        (losses, predictions)
    });
    (total, measured)
}

/// The mean over rows of the cross-entropy with these targets.
fn cross_entropy(logits: Tensor<2>, targets: &[f32], device: &Device) -> Tensor<1> {
    let [rows, columns] = logits.dims();
    let targets = matrix(targets.to_vec(), [rows, columns], device);
    (log_softmax(logits, 1) * targets).sum() * (-1.0 / rows as f32)
}

fn number(tensor: Tensor<1>) -> f32 {
    numbers(tensor)[0]
}
