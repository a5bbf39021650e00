//! Learning: from samples to better weights. The only door to burn.
//!
//! Weights, gradients and the optimizer's memory are plain numbers; burn computes the loss and its
//! gradients, but for the first layer on the processor, and nothing else. Its automatic
//! differentiation locks one graph for the whole process: a learner belongs to one plain thread and
//! must never run inside a pool of workers.

mod adam;
mod backprop;
mod batch;
mod device;
mod judge;
mod learner;
mod state;
mod stem;

pub use backprop::{DeviceNet, Gradients, Losses};
pub use batch::TrainBatch;
pub use device::{DeviceError, DeviceKind, OpenDevice};
pub use judge::{BINS, Bin, Judgement};
pub use learner::{LearnError, Learner, LearnerConfig, Progress};
