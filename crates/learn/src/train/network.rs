//! Networks as modules of burn: what one must have to be trained, those that a program registers by name, and their use
//! on a device.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use super::built_in::BuiltIn;
use super::device::OpenDevice;
use super::tensors::{matrix, numbers, tensors, with_weights};
use super::trainee::{Records, Trainee, Training};
use crate::RunError;
use jarmo_core::net::{
    FeatureBatch, FrozenNet, KernelKind, Logits, NetKind, NetShape, Network, OwnNet, Weights, provide_net,
};

/// A network of one's own, from the features of positions to policy and result. It learns from the same targets by the
/// same losses as the built-in one.
///
/// A program registers it before its `main`, and the setting `own.network` names the one that a run trains:
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::{Device, Tensor, activation::relu};
/// use jarmo_core::net::NetShape;
/// use jarmo_learn::train::{Outputs, OwnNetwork, register};
///
/// #[derive(Module, Debug)]
/// struct Small {
///     hidden: Linear,
///     policy: Linear,
///     result: Linear,
/// }
///
/// impl OwnNetwork for Small {
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
pub trait OwnNetwork: Module + 'static {
    /// What a network is made from besides the game, such as a number of channels. Another value is another network, and
    /// needs another name.
    type Settings: Clone + Send + Sync + 'static;

    /// A network with random weights on this device, for the features and actions of a game.
    fn new(settings: &Self::Settings, shape: &NetShape, device: &Device) -> Self;

    /// The logits for a batch of positions, given as features of 0 or 1, `[rows, features]`.
    fn forward(&self, features: Tensor<2>) -> Outputs;

    /// The first layer, if `forward` gives features to a linear layer and its output to [`OwnNetwork::after_first`].
    /// On the processor it is then trained as a sum of the rows of the features that are set, which is faster than a
    /// product.
    fn first(&self) -> Option<&Linear> {
        None
    }

    /// The logits from the output of the [first layer](OwnNetwork::first); only networks that name one are asked.
    fn after_first(&self, _sums: Tensor<2>) -> Outputs {
        unreachable!("the network names no first layer")
    }

    /// The network with these weights in a form that is faster on the processor than burn, if there is one. Self-play,
    /// exams, matches and agents then use it there.
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

/// What training needs of a kind of network, whatever its type.
pub(crate) trait Trainable: Send + Sync {
    /// Random weights of a registered network from this seed.
    fn random(&self, seed: u64, shape: &NetShape, device: &OpenDevice) -> Weights;

    /// Training begins with these weights.
    fn begin(&self, weights: &Weights, device: &OpenDevice) -> Box<dyn Training>;

    /// Training goes on from records.
    fn resume(&self, shape: NetShape, records: Records, device: &OpenDevice) -> Result<Box<dyn Training>, String>;

    /// The network with fixed weights in burn on a device.
    fn on_device(&self, weights: &Weights, device: &Device) -> FrozenNet;
}

static REGISTERED: Mutex<Vec<(String, Arc<dyn Trainable>)>> = Mutex::new(Vec::new());

/// Makes a network known to this process: `own.network = NAME` trains it, and agents with it can play. Another one of
/// the same name is replaced.
///
/// # Panics
/// Panics if the name is not made of `a` to `z`, `0` to `9`, `_` and `-`.
#[track_caller]
pub fn register<M: OwnNetwork>(name: &str, settings: M::Settings) {
    let is_fit = |symbol: u8| matches!(symbol, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    assert!(
        !name.is_empty() && name.bytes().all(is_fit),
        "the name `{name}` of a network must be made of a to z, 0 to 9, _ and -"
    );
    let own: Arc<Kind<M>> = Arc::new(Kind { name: name.to_owned(), settings });
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|(other, _)| other != name);
    all.push((name.to_owned(), own.clone()));
    provide_net(own);
}

/// The built-in network, or the registered one of a name.
pub(crate) fn trainable(net: &NetKind) -> Result<Arc<dyn Trainable>, RunError> {
    let own = match net {
        NetKind::BuiltIn(settings) => {
            return Ok(Arc::new(Kind::<BuiltIn> { name: String::new(), settings: *settings }));
        }
        NetKind::Own { own } => own,
    };
    let all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().find(|(name, _)| name == own);
    found.map(|(_, network)| network.clone()).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let known = match &known[..] {
            [] => "the built-in one".to_owned(),
            _ => known.join(", "),
        };
        RunError(format!("own.network = {own}: this program knows only {known}; take the program that registers it"))
    })
}

/// A network in burn on a device, for evaluation only. It prefers large batches, and clones share the weights.
#[derive(Clone)]
pub struct DeviceNet(FrozenNet);

impl DeviceNet {
    /// Copies the weights to a device.
    ///
    /// # Panics
    /// Panics if they are of a network of one's own that is not registered.
    pub fn new(weights: &Weights, device: &OpenDevice) -> DeviceNet {
        let network = trainable(weights.net()).expect("weights are of a network that is known");
        DeviceNet(network.on_device(weights, &device.device))
    }
}

impl Network for DeviceNet {
    /// Enough positions to keep a graphics card busy.
    const BATCH: usize = 4096;

    fn shape(&self) -> &NetShape {
        self.0.shape()
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        self.0.evaluate(batch, logits);
    }
}

/// A type of module with its settings.
struct Kind<M: OwnNetwork> {
    name: String, // empty for the built-in network
    settings: M::Settings,
}

impl<M: OwnNetwork> Kind<M> {
    /// The module with these weights, without gradients.
    fn with(&self, weights: &Weights, device: &Device) -> M {
        with_weights(M::new(&self.settings, weights.shape(), device), weights)
    }
}

impl<M: OwnNetwork> OwnNet for Kind<M> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dims(&self, shape: &NetShape) -> BTreeMap<String, Vec<usize>> {
        let module = M::new(&self.settings, shape, &Device::flex());
        let tensors = tensors(&module).into_iter();
        tensors.map(|(name, tensor)| (name, tensor.dims)).collect()
    }

    fn freeze(&self, weights: &Weights, _: KernelKind) -> FrozenNet {
        let frozen = M::frozen(&self.settings, weights);
        frozen.unwrap_or_else(|| self.on_device(weights, &Device::flex()))
    }
}

impl<M: OwnNetwork> Trainable for Kind<M> {
    fn random(&self, seed: u64, shape: &NetShape, device: &OpenDevice) -> Weights {
        device.device.seed(seed);
        let module = M::new(&self.settings, shape, &device.device);
        Weights::own(&self.name, *shape, tensors(&module)).expect("a new network is finite")
    }

    fn begin(&self, weights: &Weights, device: &OpenDevice) -> Box<dyn Training> {
        Box::new(Trainee::new(self.with(weights, &device.device), *weights.shape(), device))
    }

    fn resume(&self, shape: NetShape, records: Records, device: &OpenDevice) -> Result<Box<dyn Training>, String> {
        let module = M::new(&self.settings, &shape, &device.device).valid();
        Ok(Box::new(Trainee::new(module, shape, device).read(records)?))
    }

    fn on_device(&self, weights: &Weights, device: &Device) -> FrozenNet {
        FrozenNet::of(BurnNet { module: self.with(weights, device), shape: *weights.shape(), device: device.clone() })
    }
}

/// A module with fixed weights.
#[derive(Clone)]
struct BurnNet<M> {
    module: M,
    shape: NetShape,
    device: Device,
}

impl<M: OwnNetwork> Network for BurnNet<M> {
    const BATCH: usize = 256;

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
}

/// Features as numbers, 0 or 1, `[rows, features]`.
pub(super) fn features(batch: &FeatureBatch, shape: &NetShape, device: &Device) -> Tensor<2> {
    let mut dense = vec![0.0; batch.len() * shape.features];
    for (row, numbers) in dense.chunks_exact_mut(shape.features).enumerate() {
        for &feature in batch.row(row) {
            numbers[feature as usize] = 1.0;
        }
    }
    matrix(dense, [batch.len(), shape.features], device)
}

#[cfg(test)]
mod tests {
    use super::super::learner::{Learner, LearnerSettings};
    use super::super::trainee::tests::{SHAPE, batch};
    use super::*;
    use jarmo_core::net::NetSettings;
    use jarmo_core::random::stream;

    const SETTINGS: LearnerSettings = LearnerSettings { rate: 0.01, warm_up: 0, decay: 100, average: 0.9 };

    /// The registered network of this name, and random weights of it.
    fn random(name: &str) -> (Arc<dyn Trainable>, Weights) {
        let own = trainable(&NetKind::Own { own: name.to_owned() }).unwrap();
        let weights = own.random(1, &SHAPE, &OpenDevice::cpu());
        (own, weights)
    }

    /// One layer and no head for points. Its frozen form is another network, so that a test can tell them apart.
    #[derive(Module, Debug)]
    struct Line {
        policy: Linear,
        result: Linear,
    }

    impl OwnNetwork for Line {
        type Settings = bool; // whether it has a frozen form

        fn new(_: &bool, shape: &NetShape, device: &Device) -> Line {
            let layer = |outputs| burn::nn::LinearConfig::new(shape.features, outputs).init(device);
            Line { policy: layer(shape.actions), result: layer(3) }
        }

        fn forward(&self, features: Tensor<2>) -> Outputs {
            Outputs {
                policy: self.policy.forward(features.clone()),
                result: self.result.forward(features),
                score: None,
            }
        }

        fn frozen(has_frozen: &bool, weights: &Weights) -> Option<FrozenNet> {
            has_frozen.then(|| FrozenNet::new(&built_in(*weights.shape())))
        }
    }

    fn built_in(shape: NetShape) -> Weights {
        let size = NetSettings { width: 32, blocks: 0 };
        Weights::random(size, shape, &mut stream(1, 0))
    }

    fn policy(mut net: FrozenNet) -> Vec<f32> {
        let mut features = FeatureBatch::new();
        features.push_indices([3, 30]);
        let mut logits = Logits::new(SHAPE);
        net.evaluate(&features, &mut logits);
        assert_eq!(logits.score(0).len(), 7);
        logits.policy(0).to_vec()
    }

    #[test]
    fn a_frozen_form_takes_the_place_of_burn_on_the_processor() {
        register::<Line>("line-burn", false);
        register::<Line>("line-frozen", true);
        let line = |name: &str| {
            let (own, weights) = random(name);
            (policy(own.on_device(&weights, &Device::flex())), policy(FrozenNet::new(&weights)))
        };
        let (in_burn, played) = line("line-burn");
        assert_eq!(played, in_burn);
        let (in_burn, played) = line("line-frozen");
        assert_ne!(played, in_burn);
        assert_eq!(played, policy(FrozenNet::new(&built_in(SHAPE))));
    }

    #[test]
    fn saved_and_read_it_learns_the_same() {
        register::<Line>("line-saved", false);
        let cpu = OpenDevice::cpu();
        let mut one = Learner::new(SETTINGS, random("line-saved").1, &cpu);
        let first = one.step(&batch()).unwrap();
        let resume = |bytes: &[u8]| Learner::from_bytes(SETTINGS, &cpu, bytes);
        let mut two = resume(&one.to_bytes()).unwrap();
        for _ in 0..20 {
            assert_eq!(one.step(&batch()).unwrap(), two.step(&batch()).unwrap());
        }
        one.end_turn().unwrap();
        two.end_turn().unwrap();
        assert_eq!(one.average(), two.average());
        assert!(one.step(&batch()).unwrap().losses.total < first.losses.total);
        assert!(resume(&one.to_bytes()[..99]).is_err());
    }
}
