//! The network in burn: the loss of a batch, and its gradients.

use std::collections::BTreeMap;

use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::{Device, Tensor, TensorData};
use serde::Serialize;

use super::batch::Rows;
use super::device::{DeviceKind, OpenDevice};
use super::predictions::Predictions;
use super::stem;
use jarmo_core::net::{FeatureBatch, Logits, NetShape, Network, Weights};
use jarmo_selfplay::replay::Samples;

/// A gradient for every weight, by the name of its tensor.
pub type Gradients = BTreeMap<String, Vec<f32>>;

/// Tensors as burn sees them, flat, by name.
type Leaves = BTreeMap<String, Tensor<1>>;

/// Added to the logits of illegal actions. Their probability becomes 0, and nothing overflows.
const ILLEGAL: f32 = -1e9;

/// The weights of the parts of the loss.
const POLICY_WEIGHT: f32 = 1.0;
const RESULT_WEIGHT: f32 = 1.0;
const SCORE_WEIGHT: f32 = 0.25;

/// The first layer.
const STEM: &str = "stem";

/// The parts of the loss of one batch, means over its rows, in nats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// What is minimised: the weighted sum of the parts.
    pub total: f32,
    /// Cross-entropy of the policy.
    pub policy: f32,
    /// Cross-entropy of win, draw and loss.
    pub result: f32,
    /// Cross-entropy of the score difference; 0 in games without points.
    pub score: f32,
}

/// The result of a forward and backward pass over one batch.
pub(super) struct Pass {
    pub(super) losses: Losses,
    pub(super) predictions: Predictions,
    pub(super) gradients: Gradients,
}

/// Computes gradients in burn; on the processor, those of the first layer are computed here.
pub(super) struct Backprop {
    device: Device,
    sums_stem: bool, // whether the first layer is computed here, in `stem`
}

impl Backprop {
    pub(super) fn new(device: &OpenDevice) -> Backprop {
        Backprop { device: device.device.clone().autodiff(), sums_stem: device.kind() == DeviceKind::Cpu }
    }

    /// The device, with gradients.
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// The losses, predictions and gradients of a batch with these weights.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    pub(super) fn pass(&self, weights: &Weights, batch: &Samples) -> Pass {
        assert!(!batch.is_empty(), "a batch with rows");
        let rows = Rows::of(batch, weights.shape());
        let leaves = self.leaves(weights);
        let sums = self.stem_sums(weights, &rows.features);
        let first = match &sums {
            Some(sums) => sums.clone(),
            None => dense(&leaves, STEM, features(&rows.features, weights.shape(), &self.device)),
        };
        let trunk = trunk(&leaves, weights.settings().blocks, first);
        let policy = dense(&leaves, "policy", trunk.clone());
        let result = dense(&leaves, "result", trunk.clone());
        let score = (weights.shape().points > 0).then(|| dense(&leaves, "score", trunk));
        let predictions = Predictions::of(&rows, &numbers(policy.clone().detach()), &numbers(result.clone().detach()));
        let (total, losses) = self.losses(&rows, policy, result, score);
        let mut found = total.backward();
        let gradients = leaves.into_iter().map(|(name, leaf)| {
            let gradient = leaf.grad_remove(&mut found);
            let gradient = gradient.expect("the loss depends on every weight");
            (name, numbers(gradient))
        });
        let mut gradients: Gradients = gradients.collect();
        if let Some(sums) = sums {
            let gradient = sums.grad_remove(&mut found).expect("the loss depends on the first layer");
            let dims = [weights.shape().features, weights.settings().width];
            let (matrix, bias) = stem::backward(&numbers(gradient), &rows.features, dims);
            gradients.extend(stem_names().into_iter().zip([matrix, bias]));
        }
        Pass { losses, predictions, gradients }
    }

    /// The weights whose gradients burn computes.
    fn leaves(&self, weights: &Weights) -> Leaves {
        let names = stem_names();
        let here = |name: &String| self.sums_stem && names.contains(name);
        let tensors = weights.tensors().iter().filter(|(name, _)| !here(name));
        let leaves = tensors.map(|(name, tensor)| {
            let leaf = leaf(&tensor.data, &self.device).require_grad();
            (name.clone(), leaf)
        });
        leaves.collect()
    }

    /// The output of the first layer before its ReLU, `[rows, width]`, if it is computed here.
    fn stem_sums(&self, weights: &Weights, features: &FeatureBatch) -> Option<Tensor<2>> {
        let [matrix, bias] = stem_names().map(|name| weights.get(&name));
        self.sums_stem.then(|| {
            let sums = stem::forward(matrix, bias, features);
            self.matrix(sums, [features.len(), bias.len()]).require_grad()
        })
    }

    /// The loss of the logits of policy, result and score: as a tensor, and all its parts as numbers.
    pub(super) fn losses(
        &self,
        rows: &Rows,
        policy: Tensor<2>,
        result: Tensor<2>,
        score: Option<Tensor<2>>,
    ) -> (Tensor<1>, Losses) {
        let illegal = rows.legal.iter().map(|legal| (1.0 - legal) * ILLEGAL);
        let masked = policy + self.matrix(illegal.collect(), [rows.features.len(), rows.actions]);
        let policy = self.cross_entropy(masked, &rows.policy);
        let result = self.cross_entropy(result, &rows.result);
        let score = score.map(|score| self.cross_entropy(score, &rows.score));
        let mut total = policy.clone() * POLICY_WEIGHT + result.clone() * RESULT_WEIGHT;
        if let Some(score) = &score {
            total = total + score.clone() * SCORE_WEIGHT;
        }
        let losses = Losses {
            total: number(total.clone()),
            policy: number(policy),
            result: number(result),
            score: score.map_or(0.0, number),
        };
        (total, losses)
    }

    /// The mean over rows of the cross-entropy with these targets.
    fn cross_entropy(&self, logits: Tensor<2>, targets: &[f32]) -> Tensor<1> {
        let [rows, columns] = logits.dims();
        let targets = self.matrix(targets.to_vec(), [rows, columns]);
        (log_softmax(logits, 1) * targets).sum() * (-1.0 / rows as f32)
    }

    fn matrix(&self, numbers: Vec<f32>, dims: [usize; 2]) -> Tensor<2> {
        Tensor::from_data(TensorData::new(numbers, dims), &self.device)
    }
}

/// A network on a device, for evaluation only. Clones share the weights.
#[derive(Clone)]
pub struct DeviceNet {
    leaves: Leaves,
    blocks: usize,
    shape: NetShape,
    device: Device,
}

impl DeviceNet {
    /// Copies the weights to a device.
    pub fn new(weights: &Weights, device: &OpenDevice) -> DeviceNet {
        let device = device.device.clone();
        let tensors = weights.tensors().iter();
        let leaves = tensors.map(|(name, tensor)| (name.clone(), leaf(&tensor.data, &device)));
        DeviceNet { leaves: leaves.collect(), blocks: weights.settings().blocks, shape: *weights.shape(), device }
    }
}

impl Network for DeviceNet {
    /// Enough positions to keep a graphics card busy.
    const BATCH: usize = 4096;

    fn shape(&self) -> &NetShape {
        &self.shape
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        let features = features(batch, &self.shape, &self.device);
        let first = dense(&self.leaves, STEM, features);
        let trunk = trunk(&self.leaves, self.blocks, first);
        let heads = self.shape.heads();
        let heads = heads.map(|(head, _)| dense(&self.leaves, head, trunk.clone()));
        *logits = Logits::from_rows(self.shape, numbers(Tensor::cat(heads.collect(), 1)));
    }
}

/// The names of the first layer's tensors.
fn stem_names() -> [String; 2] {
    ["weight", "bias"].map(|part| format!("{STEM}.{part}"))
}

fn leaf(numbers: &[f32], device: &Device) -> Tensor<1> {
    Tensor::from_data(TensorData::new(numbers.to_vec(), [numbers.len()]), device)
}

/// The input of the heads, `[rows, width]`, from the first layer's output before its ReLU.
fn trunk(leaves: &Leaves, blocks: usize, first: Tensor<2>) -> Tensor<2> {
    let mut trunk = relu(first);
    for block in 0..blocks {
        let step = dense(leaves, &format!("blocks.{block}"), trunk.clone());
        trunk = relu(trunk + step);
    }
    trunk
}

/// A layer without its ReLU, `[rows, outputs]`.
fn dense(leaves: &Leaves, layer: &str, input: Tensor<2>) -> Tensor<2> {
    let bias = leaves[&format!("{layer}.bias")].clone();
    let dims = [input.dims()[1], bias.dims()[0]];
    let matrix = leaves[&format!("{layer}.weight")].clone().reshape(dims);
    input.matmul(matrix) + bias.unsqueeze()
}

/// Features as numbers, 0 or 1, `[rows, features]`.
pub(super) fn features(batch: &FeatureBatch, shape: &NetShape, device: &Device) -> Tensor<2> {
    let mut dense = vec![0.0; batch.len() * shape.features];
    for (row, numbers) in dense.chunks_exact_mut(shape.features).enumerate() {
        for &feature in batch.row(row) {
            numbers[feature as usize] = 1.0;
        }
    }
    let data = TensorData::new(dense, [batch.len(), shape.features]);
    Tensor::from_data(data, device)
}

pub(super) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("tensors of 32-bit numbers")
}

fn number(tensor: Tensor<1>) -> f32 {
    numbers(tensor)[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use jarmo_core::net::{NetSettings, Tensor};
    use jarmo_core::random::stream;
    use jarmo_selfplay::replay::Sample;

    const SHAPE: NetShape = NetShape { features: 40, actions: 7, points: 3 };

    /// Five rows with a few features, the last with none.
    fn batch() -> Samples {
        let mut batch = Samples::new();
        for row in 0..5 {
            let features: Vec<u16> = (row..4).map(|feature| 9 * feature + row).collect();
            batch.push(Sample {
                features: &features,
                actions: &[row, 6],
                policy: &[0.75, 0.25],
                result: [0.5, 0.25, 0.25],
                score: row as i8 - 2,
            });
        }
        batch
    }

    #[test]
    fn the_first_layer_is_the_same_as_a_sum_and_as_a_product() {
        let config = NetSettings { width: 32, blocks: 1 };
        let weights = Weights::random(config, SHAPE, &mut stream(3, 0));
        let mut tensors = weights.tensors().clone();
        let data = (0..32).map(|place| 0.01 * place as f32).collect();
        let bias = Tensor { dims: vec![32], data };
        tensors.insert("stem.bias".to_owned(), bias);
        let weights = Weights::new(config, SHAPE, tensors).unwrap();
        let added = Backprop::new(&OpenDevice::cpu());
        let multiplied = Backprop { sums_stem: false, ..Backprop::new(&OpenDevice::cpu()) };
        assert!(added.sums_stem);
        let [one, other] = [added, multiplied].map(|backprop| backprop.pass(&weights, &batch()));
        assert!((one.losses.total - other.losses.total).abs() < 1e-5);
        assert!(one.gradients.keys().eq(other.gradients.keys()));
        for (name, gradients) in &one.gradients {
            assert!(gradients.iter().any(|gradient| *gradient != 0.0), "{name}");
            for (one, other) in gradients.iter().zip(&other.gradients[name]) {
                assert!((one - other).abs() < 1e-6, "{name}: {one}, {other}");
            }
        }
    }
}
