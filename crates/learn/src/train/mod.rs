//! Learning: from batches of samples to better weights. The only module that uses burn.
//!
//! Weights, gradients and the optimizer's moments are plain numbers. Burn computes the loss and its
//! gradients and nothing else; on the processor, the first layer is computed in `stem`. Burn's
//! automatic differentiation locks one graph for the whole process, so a learner belongs to one plain
//! thread and must never run inside a thread pool.

mod adam;
mod backprop;
mod batch;
mod device;
mod learner;
mod own;
mod own_learner;
mod predictions;
mod state;
mod stem;

pub use backprop::{DeviceNet, Gradients, Losses};
pub use device::{DeviceKind, OpenDevice};
pub(crate) use learner::Learning;
pub use learner::{Learner, LearnerSettings, StepStats};
pub use own::{Outputs, OwnNetwork, register};
pub(crate) use own::{own_on_device, registered};
pub use predictions::{BINS, Bin, Predictions};
