//! Custom networks: which ones the program knows besides the built-in one, by their names.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::frozen::FrozenNet;
use super::settings::{NetError, NetSettings, NetShape};
use super::weights::{Tensor, Weights};
use crate::game::shorten;

/// Which network some weights belong to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NetKind {
    /// The built-in one, of this size.
    BuiltIn(NetSettings),
    /// One that a program registers.
    Custom {
        /// Its name. Older files call the field `own`.
        #[serde(alias = "own")]
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
    /// What the crate that trains it needs besides. Nothing here looks inside.
    pub training: Box<dyn Any + Send + Sync>,
}

static REGISTERED: Mutex<Vec<Arc<RegisteredNet>>> = Mutex::new(Vec::new());

/// Makes a custom network known to this process. One of the same name is replaced.
pub fn register_net(net: RegisteredNet) {
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.name != net.name);
    all.push(Arc::new(net));
}

/// The custom network of this name, if this program registers it.
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

/// Rejects tensors that the custom network of this name does not have, and every network that is not registered.
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
