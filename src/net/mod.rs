//! Networks as plain data, the fast way to evaluate them on a processor, and the files they live in.
//!
//! Nothing here learns, and nothing here knows the tensor library: a network is a [`NetConfig`] and
//! its [`Weights`], and whoever holds them can evaluate them with a [`FrozenNet`].

mod config;
mod evaluator;
mod features;
mod file;
mod frozen;
mod grow;
mod inspect;
#[allow(unsafe_code)]
mod kernel;
mod logits;
mod measure;
mod softmax;
mod weights;

pub use config::{NetConfig, NetConfigError, NetShape, RESULTS, TensorPlan, WIDTH_STEP};
pub use evaluator::NetEvaluator;
pub use features::FeatureBatch;
pub use file::{AGENT_FORMAT, AgentFile, AgentFileError, AgentHeader, MatchResult, Provenance};
pub use frozen::FrozenNet;
pub use inspect::{Inspection, Opinion};
pub use kernel::KernelKind;
pub use logits::Logits;
pub use measure::{NetSpeed, NetWork, measure};
pub use softmax::softmax;
pub use weights::{Tensor, Weights, WeightsError};
