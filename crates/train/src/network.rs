//! Networks as burn modules: the trait that a trainable network implements, and evaluation by burn on a device.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use crate::tensors::{matrix, numbers};
use jarmo_core::net::{FeatureBatch, FrozenNet, Logits, NetShape, Network, Weights};

/// A custom network, which computes policy and result from the features of positions. It is trained with the same
/// targets and losses as the built-in one.
///
/// A program registers it before it calls jarmo's `main`, and the setting `net.custom` names the one that a run trains:
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

/// A module with fixed weights.
#[derive(Clone)]
pub(crate) struct BurnNet<M> {
    pub(crate) module: M,
    pub(crate) shape: NetShape,
    pub(crate) device: Device,
}

impl<M: CustomNetwork> Network for BurnNet<M> {
    fn shape(&self) -> &NetShape {
        &self.shape
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        let features = features(batch, &self.shape, &self.device);
        let Outputs { policy, result, score } = self.module.forward(features);
        let mut heads = vec![policy, result];
        if self.shape.scores() > 0 {
            let dims = [batch.len(), self.shape.scores()];
            heads.push(score.unwrap_or_else(|| Tensor::zeros(dims, &self.device)));
        }
        *logits = Logits::from_rows(self.shape, numbers(Tensor::cat(heads, 1)));
    }

    fn fork(&self) -> Box<dyn Network> {
        Box::new(self.clone())
    }
}

/// Features as numbers, 0 or 1, `[rows, features]`.
pub(crate) fn features(batch: &FeatureBatch, shape: &NetShape, device: &Device) -> Tensor<2> {
    let mut dense = vec![0.0; batch.len() * shape.features];
    for (row, numbers) in dense.chunks_exact_mut(shape.features).enumerate() {
        for &feature in batch.row(row) {
            numbers[feature as usize] = 1.0;
        }
    }
    matrix(dense, [batch.len(), shape.features], device)
}
