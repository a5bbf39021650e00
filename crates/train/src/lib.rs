//! The inner training loop: games become samples, samples fill a replay buffer in memory, and training steps make new
//! weights for self-play. It has no clock and no threads of its own, and reads only files of settings. Everything else
//! belongs to the run around it.
//!
//! A network is a burn module with a burn optimizer, and its state is saved as burn records. On the CPU, two things are
//! computed by hand: a linear first layer (`stem` adds up the weight rows of the few features that are set) and a step
//! of the optimizer (`adam`). Burn's automatic differentiation locks one graph for the whole process, so a learner
//! belongs to one plain thread and must never run inside a thread pool.
//!
//! Modules import only modules that come earlier in this list.

// To compile less, we leave out the other crates of `burn`, above all its layers. Burn's macros need the name `burn`.
extern crate burn_core as burn;

mod error;
mod batch;
mod tensors;
mod stem;
mod adam;
mod device;
mod predictions;
mod network;
mod built_in;
mod tower;
mod loss;
mod trainee;
mod registry;
mod learner;
mod trainer;
mod player;
pub mod config;

pub use device::{DeviceKind, OpenDevice};
pub use error::TrainError;
pub use learner::{Learner, LearnerSettings, StepStats};
pub use loss::Losses;
pub use network::{CustomNetwork, FirstLayer, Outputs};
pub use player::{Player, Turn, turn};
pub use predictions::{BINS, Bin, Predictions};
pub use registry::{check, on_device, random_weights, register, register_built_in};
pub use trainee::Measures;
pub use trainer::{FILE_SAMPLES, Trainer, TrainerSettings, first_weights};
