//! Networks as plain data, their fast evaluation on the CPU, and their files.
//!
//! A network is a [`NetSettings`] with its [`Weights`]; a [`FrozenNet`] evaluates it. This module does not train and
//! does not depend on a tensor library. A program can register other networks with [`register_net`].

pub mod container;
mod custom;
mod evaluator;
mod features;
mod file;
mod frozen;
mod half;
mod inspect;
#[allow(unsafe_code)]
mod kernel;
mod logits;
mod settings;
mod version;
mod weights;

pub use custom::{Dims, NetKind, RegisteredNet, register_net};
pub use evaluator::{NetEvaluator, Network, Traffic};
pub use features::FeatureBatch;
pub use file::{AgentFile, AgentHeader, MatchResult, Provenance};
pub use frozen::FrozenNet;
pub use inspect::{Inspection, NetOutput};
pub use kernel::KernelKind;
pub use logits::{Logits, softmax};
pub use settings::{NetError, NetSettings, NetShape, RESULTS, TensorPlan, TowerSettings};
pub use version::GameVersion;
pub use weights::{Tensor, Weights};
