//! Networks as burn modules: the trait that a trainable network implements, and evaluation by burn on a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, FloatDType, IndexingUpdateOp, Int, Tensor, TensorData};

use crate::tensors::{matrix, numbers};
use jarmo_core::net::{FeatureBatch, FrozenNet, Logits, NetShape, Network, Traffic, Weights};

/// A custom network, which computes policy and result from the features of positions. It is trained with the same
/// targets and losses as the built-in one.
///
/// A program registers it before it calls jarmo's `main`, and the setting `net.kind` names the one that a run trains:
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::{Device, Tensor, activation::relu};
/// use jarmo_core::net::NetShape;
/// use jarmo_train::{Outputs, CustomNetwork, register};
///
/// #[derive(Module, Debug)]
/// struct Small {
///     hidden: Linear,
///     policy: Linear,
///     result: Linear,
/// }
///
/// impl CustomNetwork for Small {
///     type Settings = usize; // units of the hidden layer
///
///     fn new(units: &usize, shape: &NetShape, device: &Device) -> Small {
///         let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
///         Small {
///             hidden: layer(shape.features, *units),
///             policy: layer(*units, shape.actions),
///             result: layer(*units, 3),
///         }
///     }
///
///     fn forward(&self, features: Tensor<2>) -> Outputs {
///         let hidden = relu(self.hidden.forward(features));
///         Outputs {
///             policy: self.policy.forward(hidden.clone()),
///             result: self.result.forward(hidden),
///             score: None,
///         }
///     }
/// }
///
/// register::<Small>("small", 32);
/// ```
pub trait CustomNetwork: Module + 'static {
    /// The settings from which a network is made, such as a number of channels. A network with other settings is
    /// another network and needs another name.
    type Settings: Clone + Send + Sync + 'static;

    /// A network with random weights on this device, for the features and actions of a game.
    fn new(settings: &Self::Settings, shape: &NetShape, device: &Device) -> Self;

    /// The logits for a batch of positions, given as features of 0 or 1, `[rows, features]`.
    fn forward(&self, features: Tensor<2>) -> Outputs;

    /// The first layer, if it is linear and `forward` gives its output to [`CustomNetwork::after_first`]. In training
    /// on the CPU, it is then computed by adding up the weight rows of the features that are set, which is faster than
    /// a matrix product.
    fn first(&self) -> Option<FirstLayer<'_>> {
        None
    }

    /// The logits from the output of the [first layer](CustomNetwork::first). It is called only if `first` returns a
    /// layer.
    fn after_first(&self, _sums: Tensor<2>) -> Outputs {
        unreachable!("the network names no first layer")
    }

    /// The network with these weights in a form that is faster on the CPU than burn, if there is one. On the CPU,
    /// self-play, exams, matches and agents then use this form.
    fn frozen(_settings: &Self::Settings, _weights: &Weights) -> Option<FrozenNet> {
        None
    }
}

/// The outputs of a network, before any softmax.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// Of all actions, legal or not: `[rows, actions]`.
    pub policy: Tensor<2>,
    /// Of win, draw and loss of the player to move: `[rows, 3]`.
    pub result: Tensor<2>,
    /// Of the score differences, lowest first, `[rows, 2 * points + 1]`; a network may omit it.
    pub score: Option<Tensor<2>>,
}

/// The parameters of a linear layer.
#[derive(Clone, Copy, Debug)]
pub struct FirstLayer<'a> {
    /// `[inputs, outputs]`
    pub weight: &'a Param<Tensor<2>>,
    /// `[outputs]`
    pub bias: Option<&'a Param<Tensor<1>>>,
}

/// The layers of a network with fixed weights.
pub(crate) trait Layers: Clone + Send + 'static {
    /// The same layers with weights of this type.
    #[must_use]
    fn with_numbers(self, numbers: FloatDType) -> Self;

    /// The logits of all heads, `[rows, outputs]`, from features with [one more column](sparse). All have the type of the
    /// weights.
    fn outputs(&self, features: Tensor<2>, shape: &NetShape) -> Tensor<2>;

    /// How many kernels that launches on a GPU; `None` if its operations are not known.
    fn kernels(&self) -> Option<u64> {
        None
    }
}

/// Changes the type of the weights of a module.
struct WithNumbers(FloatDType);

impl ModuleMapper for WithNumbers {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|weights| weights.cast(self.0))
    }
}

impl<M: CustomNetwork> Layers for M {
    fn with_numbers(self, numbers: FloatDType) -> M {
        self.map(&mut WithNumbers(numbers))
    }

    fn outputs(&self, features: Tensor<2>, shape: &NetShape) -> Tensor<2> {
        let (rows, device) = (features.dims()[0], features.device());
        let Outputs { policy, result, score } = self.forward(features.slice([0..rows, 0..shape.features]));
        let mut heads = vec![policy, result];
        if shape.scores() > 0 {
            let none = || Tensor::<2>::zeros([rows, shape.scores()], &device).cast(FloatDType::from(heads[0].dtype()));
            heads.push(score.unwrap_or_else(none));
        }
        Tensor::cat(heads, 1)
    }
}

/// A network with fixed weights that burn evaluates.
#[derive(Clone)]
pub(crate) struct BurnNet<L> {
    layers: L,
    shape: NetShape,
    device: Device,
    numbers: FloatDType,
    counts: Arc<[AtomicU64; 5]>, // in the order of `Traffic`
}

impl<L: Layers> BurnNet<L> {
    pub(crate) fn new(layers: L, shape: NetShape, device: &Device, numbers: FloatDType) -> BurnNet<L> {
        let layers = layers.with_numbers(numbers);
        BurnNet { layers, shape, device: device.clone(), numbers, counts: Arc::default() }
    }
}

impl<L: Layers> Network for BurnNet<L> {
    fn shape(&self) -> &NetShape {
        &self.shape
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        let (rows, width) = (batch.len(), self.shape.outputs());
        let (features, indices) = sparse(batch, &self.shape, &self.device);
        let outputs = self.layers.outputs(features.cast(self.numbers), &self.shape).cast(FloatDType::F32);
        let places = legal_outputs(batch, &self.shape);
        let count = places.as_ref().map_or(0, Vec::len);
        let (all, read) = match places {
            None => (numbers(outputs), rows * width),
            Some(places) => {
                let picked = Tensor::from_data(TensorData::new(places.clone(), [count]), &self.device);
                let picked = numbers(outputs.reshape([rows * width]).select(0, picked));
                let mut all = vec![0.0; rows * width];
                for (place, number) in places.into_iter().zip(picked) {
                    all[place as usize] = number;
                }
                (all, count)
            }
        };
        *logits = Logits::from_rows(self.shape, all);
        let casts = if self.numbers == FloatDType::F32 { 0 } else { 2 };
        let kernels =
            self.layers.kernels().map_or(0, |launched| SPARSE_KERNELS + casts + launched + u64::from(count > 0));
        let [uploaded, read] = [indices + count, read].map(|numbers| 4 * numbers as u64);
        for (sum, more) in self.counts.iter().zip([1, rows as u64, uploaded, read, kernels]) {
            sum.fetch_add(more, Ordering::Relaxed);
        }
    }

    fn traffic(&self) -> Option<Traffic> {
        let count = |place: usize| self.counts[place].load(Ordering::Relaxed);
        let [batches, positions, uploaded, read, kernels] = [0, 1, 2, 3, 4].map(count);
        Some(Traffic { batches, positions, uploaded, read, kernels, busy: 0 })
    }

    fn fork(&self) -> Box<dyn Network> {
        Box::new(self.clone())
    }
}

/// Where the result, the points and the logits of legal actions are in the outputs, `[rows, outputs]`, if the batch lists
/// legal actions. Most actions are illegal, so reading only these moves fewer bytes.
fn legal_outputs(batch: &FeatureBatch, shape: &NetShape) -> Option<Vec<i32>> {
    let (width, actions) = (shape.outputs() as i32, shape.actions as u32);
    let mut places = Vec::new();
    for row in 0..batch.len() {
        let start = row as i32 * width;
        let outputs = batch.legal(row)?.iter().copied().chain(actions..width as u32);
        places.extend(outputs.map(|output| start + output as i32));
    }
    Some(places)
}

/// The kernels that `sparse` launches: zeros, ones, and their scatter.
const SPARSE_KERNELS: u64 = 3;

/// Features as numbers, 0 or 1, `[rows, features + 1]`, and how many indices were uploaded. Few features are 1, so their
/// indices are uploaded, and the numbers are made on the device. The last column is 1 in every row, so that a layer
/// needs no operation of its own to add its bias.
fn sparse(batch: &FeatureBatch, shape: &NetShape, device: &Device) -> (Tensor<2>, usize) {
    let (rows, columns) = (batch.len(), shape.features + 1);
    let mut ones = Vec::new();
    for row in 0..rows {
        let set = batch.row(row).iter().map(|&feature| feature as usize).chain([shape.features]);
        ones.extend(set.map(|column| (row * columns + column) as i32));
    }
    let count = ones.len();
    let ones = Tensor::<2, Int>::from_data(TensorData::new(ones, [count, 1]), device);
    let zeros = Tensor::<1>::zeros([rows * columns], device);
    let numbers = zeros.scatter_nd(ones, Tensor::<1>::ones([count], device), IndexingUpdateOp::Assign);
    (numbers.reshape([rows, columns]), count)
}

/// Features as numbers, 0 or 1, `[rows, features]`. On the CPU it is faster to make them by hand.
pub(crate) fn features(batch: &FeatureBatch, shape: &NetShape, device: &Device, is_cpu: bool) -> Tensor<2> {
    if !is_cpu {
        let (features, _) = sparse(batch, shape, device);
        return features.slice([0..batch.len(), 0..shape.features]);
    }
    let mut dense = vec![0.0; batch.len() * shape.features];
    for (row, numbers) in dense.chunks_exact_mut(shape.features).enumerate() {
        for &feature in batch.row(row) {
            numbers[feature as usize] = 1.0;
        }
    }
    matrix(dense, [batch.len(), shape.features], device)
}
