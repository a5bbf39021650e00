//! Networks as plain data, the fast way to evaluate them on a processor, and the files they live in.
//!
//! Nothing here learns, and nothing here knows the tensor library: a network is a [`NetConfig`] and
//! its [`Weights`], which a [`FrozenNet`] evaluates.

mod config;
pub(crate) mod container;
mod evaluator;
mod features;
mod file;
mod frozen;
mod grow;
mod inspect;
#[allow(unsafe_code)]
mod kernel;
mod logits;
mod softmax;
mod version;
mod weights;

pub use config::{NetConfig, NetError, NetShape, RESULTS, TensorPlan};
pub use container::FileError;
pub use evaluator::{NetEvaluator, Network};
pub use features::FeatureBatch;
pub use file::{AgentFile, AgentHeader, MatchResult, Provenance};
pub use frozen::FrozenNet;
pub use inspect::{Inspection, NetOutput};
pub use kernel::KernelKind;
pub use logits::Logits;
pub use softmax::softmax;
pub use version::GameVersion;
pub use weights::{Tensor, Weights};
