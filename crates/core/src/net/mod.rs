//! Networks as plain data, their fast evaluation on a processor, and their files.
//!
//! A network is a [`NetSettings`] with its [`Weights`]; a [`FrozenNet`] evaluates it. Nothing here learns
//! or knows the tensor library. A program may provide networks of its own with [`provide_net`].

pub mod container;
mod evaluator;
mod features;
mod file;
mod frozen;
mod half;
mod inspect;
#[allow(unsafe_code)]
mod kernel;
mod logits;
mod own;
mod settings;
mod version;
mod weights;

pub use evaluator::{NetEvaluator, Network};
pub use features::FeatureBatch;
pub use file::{AgentFile, AgentHeader, MatchResult, Provenance};
pub use frozen::FrozenNet;
pub use inspect::{Inspection, NetOutput};
pub use kernel::KernelKind;
pub use logits::{Logits, softmax};
pub use own::{NetKind, OwnNet, provide_net};
pub use settings::{NetError, NetSettings, NetShape, RESULTS, TensorPlan};
pub use version::GameVersion;
pub use weights::{Tensor, Weights};
