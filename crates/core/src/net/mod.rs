//! Networks as plain data, their fast evaluation on a processor, and their files.
//!
//! A network is a [`NetConfig`] with its [`Weights`]; a [`FrozenNet`] evaluates it. Nothing here learns
//! or knows the tensor library.

mod config;
pub mod container;
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
