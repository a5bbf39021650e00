//! The kinds of networks, and those that this program has registered by name, because a tensor library computes them.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::frozen::FrozenNet;
use super::settings::{NetError, NetSettings, NetShape, TensorPlan, TowerSettings};
use super::weights::{Tensor, Weights};
use crate::game::shorten;

/// The kind of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NetKind {
    /// The built-in network, with this size.
    BuiltIn(NetSettings),
    /// The built-in tower, with this size. Programs that train register it as [`NetKind::TOWER`].
    Tower {
        /// The size.
        tower: TowerSettings,
    },
    /// A custom network that the program registers.
    Custom {
        /// Its name.
        custom: String,
    },
}

impl NetKind {
    /// The names of the built-in networks in settings.
    pub const BUILT_IN: [&str; 2] = [NetKind::MLP, NetKind::TOWER];
    pub(super) const MLP: &str = "mlp";
    /// The tower is also registered under this name.
    pub const TOWER: &str = "tower";

    /// The network of this name and size for a game with so many cells. Names that are not built in are those of custom
    /// networks, which have no size.
    pub fn named(name: &str, size: NetSettings, cells: usize) -> NetKind {
        let NetSettings { width, blocks } = size;
        match name {
            NetKind::MLP => NetKind::BuiltIn(size),
            NetKind::TOWER => NetKind::Tower { tower: TowerSettings { width, blocks, cells } },
            _ => NetKind::custom(name),
        }
    }

    /// The custom network of this name.
    pub fn custom(name: &str) -> NetKind {
        NetKind::Custom { custom: name.to_owned() }
    }

    /// The name in settings.
    pub fn name(&self) -> &str {
        self.registered_name().unwrap_or(NetKind::MLP)
    }

    /// The width and the blocks of a built-in network.
    pub fn size(&self) -> Option<NetSettings> {
        match *self {
            NetKind::BuiltIn(size) => Some(size),
            NetKind::Tower { tower: TowerSettings { width, blocks, .. } } => Some(NetSettings { width, blocks }),
            NetKind::Custom { .. } => None,
        }
    }

    /// The name under which a program registers it; `None` for the `mlp`, which every program has.
    pub(super) fn registered_name(&self) -> Option<&str> {
        match self {
            NetKind::BuiltIn(_) => None,
            NetKind::Tower { .. } => Some(NetKind::TOWER),
            NetKind::Custom { custom } => Some(custom),
        }
    }

    /// Every tensor of a built-in network, in the order of computation; `None` for a custom one.
    ///
    /// # Errors
    /// Its size is not valid.
    pub(super) fn tensors(&self, shape: &NetShape) -> Result<Option<Vec<TensorPlan>>, NetError> {
        match self {
            NetKind::BuiltIn(settings) => settings.validate().map(|()| Some(settings.tensors(shape))),
            NetKind::Tower { tower } => tower.validate(shape).map(|()| Some(tower.tensors(shape))),
            NetKind::Custom { .. } => Ok(None),
        }
    }

    /// The registered network, if this is one.
    ///
    /// # Errors
    /// It is not registered.
    pub fn registered(&self) -> Result<Option<Arc<RegisteredNet>>, NetError> {
        self.registered_name().map(registered_net).transpose()
    }
}

impl fmt::Display for NetKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetKind::BuiltIn(settings) => settings.fmt(out),
            NetKind::Tower { tower } => tower.fmt(out),
            NetKind::Custom { custom } => custom.escape_debug().fmt(out),
        }
    }
}

impl From<NetSettings> for NetKind {
    fn from(settings: NetSettings) -> NetKind {
        NetKind::BuiltIn(settings)
    }
}

/// See [`RegisteredNet::dims`].
pub type Dims = dyn Fn(&NetShape) -> BTreeMap<String, Vec<usize>> + Send + Sync;

/// A custom network or the tower, as a program registers it.
pub struct RegisteredNet {
    /// The name in settings and agent files.
    pub name: String,
    /// The dimensions of every tensor for this shape, by name. It is not asked for the tower's.
    pub dims: Box<Dims>,
    /// The network with fixed weights, computed on the CPU.
    pub freeze: Box<dyn Fn(&Weights) -> FrozenNet + Send + Sync>,
    /// Data for the crate that trains the network. This crate does not use it.
    pub training: Box<dyn Any + Send + Sync>,
}

static REGISTERED: Mutex<Vec<Arc<RegisteredNet>>> = Mutex::new(Vec::new());

/// Registers a network in this process. It replaces a network of the same name.
pub fn register_net(net: RegisteredNet) {
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.name != net.name);
    all.push(Arc::new(net));
}

/// The network of this name, if it is registered.
fn registered_net(name: &str) -> Result<Arc<RegisteredNet>, NetError> {
    let all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().find(|net| net.name == name);
    found.cloned().ok_or_else(|| {
        if name == NetKind::TOWER {
            return NetError("only programs that can train know the network `tower`: use `jarmo`".to_owned());
        }
        let known: Vec<&str> = all.iter().map(|net| net.name.as_str()).filter(|name| *name != NetKind::TOWER).collect();
        let known = match &known[..] {
            [] => "the built-in ones".to_owned(),
            _ => known.join(", "),
        };
        NetError(format!(
            "the custom network `{}` is missing: this program knows only {known}; use the program that registers it",
            shorten(name)
        ))
    })
}

/// Checks that the tensors are those of a custom network.
pub(super) fn check_custom(
    registered: &RegisteredNet,
    shape: &NetShape,
    tensors: &BTreeMap<String, Tensor>,
) -> Result<(), NetError> {
    let dims = (registered.dims)(shape);
    let given = tensors.iter().map(|(name, tensor)| (name, &tensor.dims));
    if !given.eq(&dims) {
        return Err(NetError(format!(
            "its tensors are not those of `{}` in this program, which may have other settings",
            shorten(&registered.name)
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
