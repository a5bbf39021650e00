//! Networks of one's own: modules of burn that a program registers by name, trained like the built-in network.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};

use super::backprop::{features, numbers};
use super::device::OpenDevice;
use super::learner::{LearnerSettings, Learning};
use super::own_learner::OwnLearner;
use crate::RunError;
use jarmo_core::net::{
    self, FeatureBatch, FileError, FrozenNet, KernelKind, Logits, NetKind, NetShape, Network, OwnNet, Weights,
    provide_net,
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

/// What the training of a registered network needs, whatever its type.
pub(crate) trait OwnTraining: OwnNet {
    /// The learner of a new run: with these weights, or random ones from this seed.
    fn begin(
        &self,
        shape: NetShape,
        start: Result<&Weights, u64>,
        learner: LearnerSettings,
        device: &OpenDevice,
    ) -> Box<dyn Learning>;

    /// The learner as its bytes say.
    fn resume(
        &self,
        bytes: &[u8],
        learner: LearnerSettings,
        device: &OpenDevice,
    ) -> Result<Box<dyn Learning>, FileError>;

    /// The network with fixed weights in burn on a device.
    fn on_device(&self, weights: &Weights, device: &Device) -> FrozenNet;
}

static REGISTERED: Mutex<Vec<Arc<dyn OwnTraining>>> = Mutex::new(Vec::new());

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
    let own: Arc<Own<M>> = Arc::new(Own { name: name.to_owned(), settings, module: PhantomData });
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.name() != name);
    all.push(own.clone());
    provide_net(own);
}

/// The registered network of this name.
pub(crate) fn registered(name: &str) -> Result<Arc<dyn OwnTraining>, RunError> {
    let all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().find(|own| own.name() == name);
    found.cloned().ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|own| own.name()).collect();
        let known = match &known[..] {
            [] => "the built-in one".to_owned(),
            _ => known.join(", "),
        };
        RunError(format!("own.network = {name}: this program knows only {known}; take the program that registers it"))
    })
}

/// A network of one's own in burn on a device other than the processor.
///
/// # Panics
/// Panics if the weights are those of the built-in network.
pub(crate) fn own_on_device(weights: &Weights, device: &OpenDevice) -> WideNet {
    let NetKind::Own { own } = weights.net() else { panic!("weights of a network of one's own") };
    let own = registered(own).expect("weights are of a network that is known");
    WideNet(own.on_device(weights, &device.device))
}

/// A network that prefers large batches.
#[derive(Clone)]
pub(crate) struct WideNet(FrozenNet);

impl Network for WideNet {
    /// Enough positions to keep a graphics card busy.
    const BATCH: usize = 4096;

    fn shape(&self) -> &NetShape {
        self.0.shape()
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        self.0.evaluate(batch, logits);
    }
}

/// A registered network.
struct Own<M: OwnNetwork> {
    name: String,
    settings: M::Settings,
    module: PhantomData<fn() -> M>,
}

impl<M: OwnNetwork> Own<M> {
    /// The module with these weights, for evaluation only.
    fn with(&self, weights: &Weights, device: &Device) -> M {
        let module = M::new(&self.settings, weights.shape(), device);
        let path = Vec::new();
        module.valid().map(&mut Writer { path, weights })
    }
}

impl<M: OwnNetwork> OwnNet for Own<M> {
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

impl<M: OwnNetwork> OwnTraining for Own<M> {
    fn begin(
        &self,
        shape: NetShape,
        start: Result<&Weights, u64>,
        learner: LearnerSettings,
        device: &OpenDevice,
    ) -> Box<dyn Learning> {
        let module = match start {
            Ok(weights) => self.with(weights, &device.device).train(),
            Err(seed) => {
                device.device.seed(seed);
                M::new(&self.settings, &shape, &device.device.clone().autodiff())
            }
        };
        let name = self.name.clone();
        Box::new(OwnLearner::new((name, shape), module, learner, device))
    }

    fn resume(
        &self,
        bytes: &[u8],
        learner: LearnerSettings,
        device: &OpenDevice,
    ) -> Result<Box<dyn Learning>, FileError> {
        let on = device.device.clone().autodiff();
        let new = |shape: &NetShape| M::new(&self.settings, shape, &on);
        let read = OwnLearner::from_bytes(&self.name, new, learner, device, bytes)?;
        Ok(Box::new(read))
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

/// All tensors of a module by name.
pub(super) fn tensors<M: Module>(module: &M) -> BTreeMap<String, net::Tensor> {
    let mut reader = Reader::default();
    module.visit(&mut reader);
    reader.tensors
}

#[derive(Default)]
struct Reader {
    path: Vec<String>,
    tensors: BTreeMap<String, net::Tensor>,
}

impl ModuleVisitor for Reader {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let dims = tensor.dims().to_vec();
        let data = numbers(tensor.detach());
        let tensor = net::Tensor { dims, data };
        self.tensors.insert(self.path.join("."), tensor);
    }
}

/// Gives a module the weights of these names.
struct Writer<'a> {
    path: Vec<String>,
    weights: &'a Weights,
}

impl ModuleMapper for Writer<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let data = self.weights.get(&self.path.join(".")).to_vec();
        param.map(|old| {
            let data = TensorData::new(data, old.dims());
            Tensor::from_data(data, &old.device())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jarmo_core::net::NetSettings;
    use jarmo_core::random::stream;
    use jarmo_selfplay::replay::{Sample, Samples};

    const SHAPE: NetShape = NetShape { features: 40, actions: 7, points: 3 };

    const SETTINGS: LearnerSettings = LearnerSettings { rate: 0.01, warm_up: 0, decay: 100, average: 0.9 };

    /// One layer and no head for points. Its frozen form is another network, so that a test can tell them apart.
    #[derive(Module, Debug)]
    struct Line {
        policy: burn::nn::Linear,
        result: burn::nn::Linear,
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

    fn batch() -> Samples {
        let mut batch = Samples::new();
        for row in 0..5 {
            batch.push(Sample {
                features: &[row, row + 20],
                actions: &[row, 6],
                policy: &[0.75, 0.25],
                result: [0.5, 0.25, 0.25],
                score: row as i8 - 2,
            });
        }
        batch
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
            let own = registered(name).unwrap();
            let learner = own.begin(SHAPE, Err(1), SETTINGS, &OpenDevice::cpu());
            let weights = learner.average().clone();
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
        let own = registered("line-saved").unwrap();
        let cpu = OpenDevice::cpu();
        let mut one = own.begin(SHAPE, Err(1), SETTINGS, &cpu);
        let first = one.step(&batch()).unwrap();
        let mut two = own.resume(&one.to_bytes(), SETTINGS, &cpu).unwrap();
        for _ in 0..20 {
            assert_eq!(one.step(&batch()).unwrap(), two.step(&batch()).unwrap());
        }
        one.end_turn().unwrap();
        two.end_turn().unwrap();
        assert_eq!(one.average(), two.average());
        assert!(one.step(&batch()).unwrap().losses.total < first.losses.total);
        assert!(own.resume(&one.to_bytes()[..99], SETTINGS, &cpu).is_err());
    }
}
