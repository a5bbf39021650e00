//! Custom networks: the networks besides the built-in one that this program has registered, by name.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::frozen::FrozenNet;
use super::settings::{NetError, NetSettings, NetShape};
use super::weights::{Tensor, Weights};
use crate::game::shorten;

/// The kind of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NetKind {
    /// The built-in network, with this size.
    BuiltIn(NetSettings),
    /// A custom network that the program registers.
    Custom {
        /// Its name.
        custom: String,
    },
}

impl NetKind {
    /// The custom network of this name.
    pub fn custom(name: &str) -> NetKind {
        NetKind::Custom { custom: name.to_owned() }
    }
}

impl fmt::Display for NetKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetKind::BuiltIn(settings) => settings.fmt(out),
            NetKind::Custom { custom } => custom.escape_debug().fmt(out),
        }
    }
}

/// See [`RegisteredNet::dims`].
pub type Dims = dyn Fn(&NetShape) -> BTreeMap<String, Vec<usize>> + Send + Sync;

/// A custom network, as a program registers it.
pub struct RegisteredNet {
    /// The name in settings and agent files.
    pub name: String,
    /// The dimensions of every tensor for this shape, by name.
    pub dims: Box<Dims>,
    /// The network with fixed weights, computed on the CPU.
    pub freeze: Box<dyn Fn(&Weights) -> FrozenNet + Send + Sync>,
    /// Data for the crate that trains the network. This crate does not use it.
    pub training: Box<dyn Any + Send + Sync>,
}

static REGISTERED: Mutex<Vec<Arc<RegisteredNet>>> = Mutex::new(Vec::new());

/// Registers a custom network in this process. It replaces a network of the same name.
pub fn register_net(net: RegisteredNet) {
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.name != net.name);
    all.push(Arc::new(net));
}

/// The custom network of this name, if it is registered.
pub fn registered_net(name: &str) -> Result<Arc<RegisteredNet>, NetError> {
    let all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().find(|net| net.name == name);
    found.cloned().ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|net| net.name.as_str()).collect();
        let known = match &known[..] {
            [] => "the built-in network".to_owned(),
            _ => known.join(", "),
        };
        NetError(format!(
            "the custom network `{}` is missing: this program knows only {known}; use the program that registers it",
            shorten(name)
        ))
    })
}

/// Checks that the tensors are those of the custom network with this name. Fails if the network is not registered.
pub(super) fn check_custom(name: &str, shape: &NetShape, tensors: &BTreeMap<String, Tensor>) -> Result<(), NetError> {
    shape.validate()?;
    let dims = (registered_net(name)?.dims)(shape);
    let given = tensors.iter().map(|(name, tensor)| (name, &tensor.dims));
    if !given.eq(&dims) {
        return Err(NetError(format!(
            "its tensors are not those of `{}` in this program, which may have other settings",
            shorten(name)
        )));
    }
    let numbers = |tensor: &Tensor| tensor.data.len() == tensor.dims.iter().product::<usize>();
    let finite = |tensor: &Tensor| tensor.data.iter().all(|number| number.is_finite());
    match tensors.iter().find(|(_, one)| !numbers(one) || !finite(one)) {
        None => Ok(()),
        Some((tensor, _)) => {
            Err(NetError(format!("tensor `{tensor}` has not the numbers of its dimensions, all finite")))
        }
    }
}
