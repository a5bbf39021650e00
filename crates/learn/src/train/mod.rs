//! Learning: from batches of samples to better weights. The only module that uses burn.
//!
//! A network is a module of burn with an optimizer of burn, and its state is burn's records. On the processor, three
//! things are computed by hand: a linear first layer (`stem` adds up the rows of the few features that are set), a step
//! of the optimizer (`adam`), and the averages. Burn's automatic differentiation locks one graph for the whole process,
//! so a learner belongs to one plain thread and must never run inside a thread pool.

mod adam;
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
