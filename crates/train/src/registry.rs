//! The networks that can be trained: the built-in one, and those that a program registers by name.

use std::sync::Arc;

use burn::tensor::{Device, FloatDType};

use crate::TrainError;
use crate::built_in::{BuiltIn, Folded};
use crate::device::OpenDevice;
use crate::network::{BurnNet, CustomNetwork};
use crate::tensors::tensors;
use crate::tower::Tower;
use crate::trainee::{AnyTrainee, Trainee};
use jarmo_core::net::{FrozenNet, NetKind, NetShape, RegisteredNet, Weights, register_net};

/// Makes a module with random weights, ready to be trained, for the features and actions of a game.
pub(crate) type NewTrainee = dyn Fn(&NetShape, &OpenDevice) -> Box<dyn AnyTrainee> + Send + Sync;

fn new_trainee<M: CustomNetwork>(settings: M::Settings) -> Arc<NewTrainee> {
    Arc::new(move |shape, device| {
        let module = M::new(&settings, shape, &device.device).valid();
        Box::new(Trainee::new(module, *shape, device))
    })
}

/// Makes a custom network known to this process: `net.kind = NAME` trains it, and agents with it can play. It replaces a
/// network of the same name.
///
/// # Panics
/// Panics if the name is one of the program's own, is empty, or contains anything but `a` to `z`, `0` to `9`, `_` and `-`.
#[track_caller]
pub fn register<M: CustomNetwork>(name: &str, settings: M::Settings) {
    let is_fit = |symbol: u8| matches!(symbol, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    assert!(
        !name.is_empty() && name.bytes().all(is_fit),
        "the name `{name}` of a network must be made of a to z, 0 to 9, _ and -"
    );
    assert!(!NetKind::BUILT_IN.contains(&name), "`{name}` is a built-in network");
    let new = new_trainee::<M>(settings.clone());
    let of_dims = settings.clone();
    let dims = move |shape: &NetShape| {
        let tensors = tensors(&M::new(&of_dims, shape, &Device::flex())).into_iter();
        tensors.map(|(name, tensor)| (name, tensor.dims)).collect()
    };
    let training = Box::new(new.clone());
    let freeze = move |weights: &Weights| {
        M::frozen(&settings, weights)
            .unwrap_or_else(|| with_weights(&*new, weights, &OpenDevice::cpu()).frozen(FloatDType::F32))
    };
    let (dims, freeze) = (Box::new(dims), Box::new(freeze));
    register_net(RegisteredNet { name: name.to_owned(), dims, freeze, training });
}

/// Makes the tower known to this process, so that runs and agents can have it. `jarmo` calls it first.
pub fn register_built_in() {
    let freeze = |weights: &Weights| {
        let new = trainable(weights.net()).expect("a built-in network");
        with_weights(&*new, weights, &OpenDevice::cpu()).frozen(FloatDType::F32)
    };
    register_net(RegisteredNet {
        name: NetKind::TOWER.to_owned(),
        dims: Box::new(|_| unreachable!("the tensors of built-in networks are planned")),
        freeze: Box::new(freeze),
        training: Box::new(()),
    });
}

/// How a network is trained.
pub(crate) fn trainable(net: &NetKind) -> Result<Arc<NewTrainee>, TrainError> {
    match net {
        NetKind::BuiltIn(settings) => Ok(new_trainee::<BuiltIn>(*settings)),
        NetKind::Tower { tower } => Ok(new_trainee::<Tower>(*tower)),
        NetKind::Custom { custom } => {
            let registered = net.registered().map_err(TrainError::new)?;
            let registered = registered.expect("a custom network is a registered one");
            let new = registered.training.downcast_ref::<Arc<NewTrainee>>();
            new.cloned().ok_or_else(|| TrainError(format!("the custom network `{custom}` can play, but not learn")))
        }
    }
}

/// Rejects a network that this program cannot train.
pub fn check(net: &NetKind) -> Result<(), TrainError> {
    trainable(net).map(drop)
}

/// Random weights of a custom network from this seed.
pub fn random_weights(name: &str, shape: &NetShape, seed: u64, device: &OpenDevice) -> Result<Weights, TrainError> {
    let net = NetKind::custom(name);
    let new = trainable(&net)?;
    device.device.seed(seed);
    Weights::new(net, *shape, new(shape, device).weights()).map_err(TrainError::new)
}

/// A module with these weights, ready to be trained.
pub(crate) fn with_weights(new: &NewTrainee, weights: &Weights, device: &OpenDevice) -> Box<dyn AnyTrainee> {
    let mut trainee = new(weights.shape(), device);
    trainee.load(weights);
    trainee
}

/// Enough positions to keep a GPU busy.
const BATCH: usize = 4096;

/// A network that burn evaluates on a device. It is fastest with large batches.
///
/// # Panics
/// Panics if the weights are of a custom network that is not registered.
pub fn on_device(weights: &Weights, device: &OpenDevice) -> FrozenNet {
    let net = match weights.net() {
        NetKind::BuiltIn(_) => {
            let layers = Folded::new(weights, &device.device);
            FrozenNet::of(BurnNet::new(layers, *weights.shape(), &device.device, device.numbers))
        }
        NetKind::Tower { .. } | NetKind::Custom { .. } => {
            let new = trainable(weights.net()).expect("weights are of a network that is known");
            with_weights(&*new, weights, device).frozen(device.numbers)
        }
    };
    net.in_batches_of(BATCH)
}
