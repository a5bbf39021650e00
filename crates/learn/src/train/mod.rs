//! Learning: from batches of samples to better weights. The only module that uses burn.
//!
//! A network is a module of burn with burn's optimizer, and its state is burn's records. Only a linear first layer is
//! computed by hand, on the processor: `stem` adds up the rows of the few features that are set. Burn's automatic
//! differentiation locks one graph for the whole process, so a learner belongs to one plain thread and must never run
//! inside a thread pool.

mod batch;
mod built_in;
mod device;
mod learner;
mod loss;
mod network;
mod predictions;
mod stem;
mod tensors;
mod trainee;

pub use device::{DeviceKind, OpenDevice};
pub use learner::{Learner, LearnerSettings, StepStats};
pub use loss::Losses;
pub(crate) use network::trainable;
pub use network::{DeviceNet, Outputs, OwnNetwork, register};
pub use predictions::{BINS, Bin, Predictions};
