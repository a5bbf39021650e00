//! Networks of one's own: which ones the program knows beside the built-in one, by their names.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::frozen::FrozenNet;
use super::kernel::KernelKind;
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
    Own {
        /// Its name.
        own: String,
    },
}

impl fmt::Display for NetKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetKind::BuiltIn(settings) => settings.fmt(out),
            NetKind::Own { own } => own.escape_debug().fmt(out),
        }
    }
}

/// A network other than the built-in one.
pub trait OwnNet: Send + Sync {
    /// The name in agent files.
    fn name(&self) -> &str;

    /// The dimensions of every tensor for this shape, by name.
    fn dims(&self, shape: &NetShape) -> BTreeMap<String, Vec<usize>>;

    /// The network with fixed weights, computed on the processor. The kernel is a wish.
    fn freeze(&self, weights: &Weights, kernel: KernelKind) -> FrozenNet;
}

static OWN: Mutex<Vec<Arc<dyn OwnNet>>> = Mutex::new(Vec::new());

/// Makes a network of one's own known to this process. One of the same name is replaced.
pub fn provide_net(net: Arc<dyn OwnNet>) {
    let mut all = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.name() != net.name());
    all.push(net);
}

/// The network of one's own with this name.
pub(super) fn own_net(name: &str) -> Result<Arc<dyn OwnNet>, NetError> {
    let all = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().find(|net| net.name() == name);
    found.cloned().ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|net| net.name()).collect();
        let known = match &known[..] {
            [] => "the built-in one".to_owned(),
            _ => known.join(", "),
        };
        NetError(format!(
            "its network is `{}`, and this program knows only {known}; take the program that registers it",
            shorten(name)
        ))
    })
}

/// Refuses tensors that the network of this name does not have, or a program without that network.
pub(super) fn check_own(name: &str, shape: &NetShape, tensors: &BTreeMap<String, Tensor>) -> Result<(), NetError> {
    shape.validate()?;
    let dims = own_net(name)?.dims(shape);
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
