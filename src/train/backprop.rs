//! The network in burn: the loss of a batch, and its gradients.

use std::collections::BTreeMap;

use burn::activation::{log_softmax, relu};
use burn::module::conv2d;
use burn::ops::ConvOptions;
use burn::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::batch::TrainBatch;
use super::device::{DeviceKind, OpenDevice};
use super::judge::Judgement;
use super::learner::Numbers;
use super::stem;
use crate::net::{FeatureBatch, NetConfig, NetShape, TensorPlan, Weights};

/// One number for every weight, by the name of its tensor.
pub type Gradients = BTreeMap<String, Vec<f32>>;

/// Added to the logits of illegal actions: no finite logit makes up for it, and it is far from
/// the largest numbers there are.
const ILLEGAL: f32 = -1e9;

/// How much each part of the loss counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossWeights {
    /// Cross-entropy of the policy.
    pub policy: f32,
    /// Cross-entropy of win, draw and loss.
    pub result: f32,
    /// Cross-entropy of the score difference.
    pub score: f32,
}

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

/// What one pass over a batch comes to.
pub(super) struct Pass {
    pub(super) losses: Losses,
    pub(super) judgement: Judgement,
    pub(super) gradients: Gradients,
}

/// A network in burn, but for the first layer of a fully connected one on the processor.
pub struct Backprop {
    config: NetConfig,
    shape: NetShape,
    plans: Vec<TensorPlan>,
    device: Device,
    sums_stem: bool, // the first layer is added up here; burn computes the rest
}

/// The names of the first layer's tensors in a fully connected network.
const STEM: [&str; 2] = ["stem.weight", "stem.bias"];

/// What a network starts from.
enum Input {
    /// All features, `[rows, features]`.
    Features(Tensor<2>),
    /// What the first layer of a fully connected network hands on, `[rows, width]`.
    Stem(Tensor<2>),
}

/// The heads of a batch, `[rows, …]` each, unmasked.
struct Heads {
    policy: Tensor<2>,
    result: Tensor<2>,
    score: Option<Tensor<2>>,
}

impl Backprop {
    /// A network of this architecture on a device.
    pub fn new(config: NetConfig, shape: NetShape, device: &OpenDevice) -> Backprop {
        Backprop {
            config,
            shape,
            plans: config.tensors(&shape),
            device: device.device.clone().autodiff(),
            sums_stem: device.kind() == DeviceKind::Cpu && matches!(config, NetConfig::Mlp { .. }),
        }
    }

    /// The loss of a batch with these weights, how well they knew it, and the gradients.
    ///
    /// # Panics
    /// Panics if the batch is empty or made for another shape.
    pub(super) fn pass(&self, weights: &Numbers, batch: &TrainBatch, parts: &LossWeights) -> Pass {
        assert!(!batch.is_empty(), "something to learn from");
        assert_eq!(*batch.shape(), self.shape, "a batch of this game");
        let leaves = self.leaves(weights);
        let rows = batch.len();
        let input = self.input(weights, batch.features());
        let stem = match &input {
            Input::Stem(stem) => Some(stem.clone()),
            Input::Features(_) => None,
        };
        let heads = self.trunk().heads(&leaves, input);
        let judgement = Judgement::of(
            batch,
            &numbers(heads.policy.clone().detach()),
            &numbers(heads.result.clone().detach()),
        );
        let illegal = batch.legal().iter().map(|legal| (1.0 - legal) * ILLEGAL);
        let masked = heads.policy + self.matrix(illegal.collect(), [rows, self.shape.actions]);
        let policy = self.cross_entropy(masked, batch.policy());
        let result = self.cross_entropy(heads.result, batch.result());
        let score = heads
            .score
            .map(|score| self.cross_entropy(score, batch.score()));
        let mut total = policy.clone() * parts.policy + result.clone() * parts.result;
        if let Some(score) = &score {
            total = total + score.clone() * parts.score;
        }
        let mut found = total.backward();
        let losses = Losses {
            total: number(total),
            policy: number(policy),
            result: number(result),
            score: score.map_or(0.0, number),
        };
        let gradients = leaves.into_iter().map(|(name, leaf)| {
            let gradient = leaf
                .grad_remove(&mut found)
                .expect("every weight has a share in the loss");
            (name, numbers(gradient))
        });
        let mut gradients: Gradients = gradients.collect();
        if let Some(stem) = stem {
            let gradient = stem.grad_remove(&mut found).expect("all goes through it");
            let [_, width] = stem.dims();
            let dims = [self.shape.features(), width];
            let (weights, bias) = stem::backward(&numbers(gradient), batch.features(), dims);
            gradients.extend(STEM.map(str::to_owned).into_iter().zip([weights, bias]));
        }
        Pass {
            losses,
            judgement,
            gradients,
        }
    }

    /// The logits of all heads, `[rows, outputs]`: policy, result, score.
    pub fn logits(&self, weights: &Numbers, batch: &FeatureBatch) -> Vec<f32> {
        let input = self.input(weights, batch);
        self.trunk().logits(&self.leaves(weights), input)
    }

    /// What burn starts from: the features, or a leaf with what the first layer hands on.
    fn input(&self, weights: &Numbers, batch: &FeatureBatch) -> Input {
        if !self.sums_stem {
            return Input::Features(dense(batch, &self.shape, &self.device));
        }
        let [weights, bias] = STEM.map(|name| &weights[name]);
        let sums = stem::forward(weights, bias, batch);
        Input::Stem(self.matrix(sums, [batch.len(), bias.len()]).require_grad())
    }

    fn trunk(&self) -> Trunk<'_> {
        Trunk {
            config: self.config,
            shape: &self.shape,
            plans: &self.plans,
        }
    }

    /// A flat leaf for every tensor that burn computes with.
    fn leaves(&self, weights: &Numbers) -> BTreeMap<String, Tensor<1>> {
        let here = |name: &str| self.sums_stem && STEM.contains(&name);
        let leaves = weights.iter().filter(|(name, _)| !here(name));
        let leaves = leaves.map(|(name, data)| {
            let data = TensorData::new(data.clone(), [data.len()]);
            let leaf = Tensor::<1>::from_data(data, &self.device).require_grad();
            (name.clone(), leaf)
        });
        leaves.collect()
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

/// Weights on a device that only answer.
#[derive(Clone)]
pub(super) struct Forward {
    config: NetConfig,
    shape: NetShape,
    plans: Vec<TensorPlan>,
    leaves: BTreeMap<String, Tensor<1>>,
    device: Device,
}

impl Forward {
    pub(super) fn new(weights: &Weights, device: &OpenDevice) -> Forward {
        let device = &device.device;
        let tensors = weights.tensors().iter().map(|(name, tensor)| {
            let data = TensorData::new(tensor.data.clone(), [tensor.data.len()]);
            (name.clone(), Tensor::<1>::from_data(data, device))
        });
        let (config, shape) = (weights.config(), *weights.shape());
        Forward {
            config,
            shape,
            plans: config.tensors(&shape),
            leaves: tensors.collect(),
            device: device.clone(),
        }
    }

    /// The logits of all heads, `[rows, outputs]`: policy, result, score.
    pub(super) fn logits(&self, batch: &FeatureBatch) -> Vec<f32> {
        let trunk = Trunk {
            config: self.config,
            shape: &self.shape,
            plans: &self.plans,
        };
        let input = Input::Features(dense(batch, &self.shape, &self.device));
        trunk.logits(&self.leaves, input)
    }
}

/// The way from features to heads, whoever has the weights.
struct Trunk<'a> {
    config: NetConfig,
    shape: &'a NetShape,
    plans: &'a [TensorPlan],
}

impl Trunk<'_> {
    /// The logits of all heads, `[rows, outputs]`: policy, result, score.
    fn logits(&self, leaves: &BTreeMap<String, Tensor<1>>, input: Input) -> Vec<f32> {
        let heads = self.heads(leaves, input);
        let mut all = vec![heads.policy, heads.result];
        all.extend(heads.score);
        numbers(Tensor::cat(all, 1))
    }

    fn heads(&self, leaves: &BTreeMap<String, Tensor<1>>, input: Input) -> Heads {
        let net = Net {
            plans: self.plans,
            leaves,
        };
        let seen = match (self.config, input) {
            (NetConfig::Mlp { blocks, .. }, input) => {
                let mut trunk = relu(match input {
                    Input::Features(features) => net.dense("stem", features),
                    Input::Stem(stem) => stem,
                });
                for block in 0..blocks {
                    let step = net.dense(&format!("blocks.{block}"), trunk.clone());
                    trunk = relu(trunk + step);
                }
                trunk
            }
            (NetConfig::Conv { width, blocks, .. }, Input::Features(features)) => {
                self.convolve(&net, features, width, blocks)
            }
            (NetConfig::Conv { .. }, Input::Stem(_)) => {
                unreachable!("only fully connected networks have a first layer that is added up")
            }
        };
        Heads {
            policy: net.dense("policy", seen.clone()),
            result: net.dense("result", seen.clone()),
            score: (self.shape.points > 0).then(|| net.dense("score", seen)),
        }
    }

    /// The trunk of a convolutional network: `[rows, cells x head_channels]`.
    fn convolve(&self, net: &Net, input: Tensor<2>, width: usize, blocks: usize) -> Tensor<2> {
        let [rows, features] = input.dims();
        let (shape, board) = (self.shape, self.shape.board_features());
        let planes = input.clone().slice([0..rows, 0..board]).reshape([
            rows,
            shape.board_planes,
            shape.rows,
            shape.columns,
        ]);
        let numbers = input.slice([0..rows, board..features]);
        let everywhere = numbers.matmul(net.matrix("stem.numbers.weight"));
        let mut trunk = net.conv3("stem.board.weight", "stem.bias", planes);
        trunk = relu(trunk + everywhere.reshape([rows, width, 1, 1]));
        for block in 0..blocks {
            let layer = |name: &str, input| {
                let name = format!("blocks.{block}.{name}");
                net.conv3(&format!("{name}.weight"), &format!("{name}.bias"), input)
            };
            let inner = relu(layer("first", trunk.clone()));
            trunk = relu(trunk + layer("second", inner));
        }
        // Cell by cell, the channels of a cell together.
        let cells = shape.cells();
        let by_cell = trunk
            .reshape([rows, width, cells])
            .swap_dims(1, 2)
            .reshape([rows * cells, width]);
        let seen = relu(net.dense("head", by_cell));
        let head_channels = seen.dims()[1];
        seen.reshape([rows, cells * head_channels])
    }
}

/// The leaves in the dimensions of their tensors.
struct Net<'a> {
    plans: &'a [TensorPlan],
    leaves: &'a BTreeMap<String, Tensor<1>>,
}

impl Net<'_> {
    fn shaped<const D: usize>(&self, name: &str) -> Tensor<D> {
        let plan = self.plans.iter().find(|plan| plan.name == name);
        let dims: [usize; D] = plan
            .and_then(|plan| plan.dims.as_slice().try_into().ok())
            .expect("a tensor of the architecture");
        self.leaves[name].clone().reshape(dims)
    }

    fn matrix(&self, name: &str) -> Tensor<2> {
        self.shaped(name)
    }

    fn dense(&self, name: &str, input: Tensor<2>) -> Tensor<2> {
        let bias = self.leaves[&format!("{name}.bias")].clone();
        input.matmul(self.matrix(&format!("{name}.weight"))) + bias.unsqueeze()
    }

    fn conv3(&self, weight: &str, bias: &str, input: Tensor<4>) -> Tensor<4> {
        let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
        let bias = self.leaves[bias].clone();
        conv2d(input, self.shaped(weight), Some(bias), options)
    }
}

/// Features as numbers, 0 or 1, `[rows, features]`.
fn dense(batch: &FeatureBatch, shape: &NetShape, device: &Device) -> Tensor<2> {
    let count = shape.features();
    let mut dense = vec![0.0; batch.len() * count];
    for (row, numbers) in dense.chunks_exact_mut(count).enumerate() {
        for &feature in batch.row(row) {
            numbers[feature as usize] = 1.0;
        }
    }
    Tensor::from_data(TensorData::new(dense, [batch.len(), count]), device)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .into_data()
        .try_into_vec()
        .expect("tensors of 32-bit numbers")
}

fn number(tensor: Tensor<1>) -> f32 {
    numbers(tensor)[0]
}

#[cfg(test)]
mod tests {
    use super::super::learner::numbers_of;
    use super::*;
    use crate::random::stream;

    const SHAPE: NetShape = NetShape {
        planes: 2,
        board_planes: 1,
        rows: 4,
        columns: 5,
        actions: 7,
        points: 3,
    };

    /// Five rows with a few features, the last with none.
    fn batch() -> TrainBatch {
        let mut batch = TrainBatch::new(SHAPE);
        for row in 0..5_u32 {
            let features = (row..4).map(|feature| 9 * feature + row);
            let policy = [(row as usize, 0.75), (6, 0.25)];
            batch.push(features, policy, [0.5, 0.25, 0.25], row as i32 - 2);
        }
        batch
    }

    #[test]
    fn the_first_layer_is_the_same_added_up_and_multiplied() {
        let config = NetConfig::Mlp {
            width: 32,
            blocks: 1,
        };
        let weights = Weights::random(config, SHAPE, &mut stream(3, 0));
        let mut numbers = numbers_of(&weights);
        for (place, bias) in numbers.get_mut(STEM[1]).unwrap().iter_mut().enumerate() {
            *bias = 0.01 * place as f32;
        }
        let added = Backprop::new(config, SHAPE, &OpenDevice::cpu());
        let multiplied = Backprop {
            sums_stem: false,
            ..Backprop::new(config, SHAPE, &OpenDevice::cpu())
        };
        assert!(added.sums_stem);
        let parts = LossWeights {
            policy: 1.0,
            result: 1.0,
            score: 0.5,
        };
        let [one, other] =
            [added, multiplied].map(|backprop| backprop.pass(&numbers, &batch(), &parts));
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
