//! The inner loop of learning: games become samples, samples a window in memory, and training steps new weights for
//! self-play. It has no clock and no threads of its own, and reads no files but those of settings: the rest belongs to the
//! run around it.
//!
//! A network is a module of burn with an optimizer of burn, and its state is burn's records. On the CPU, two things are
//! computed by hand: a linear first layer (`stem` adds up the rows of the few features that are set) and a step of the
//! optimizer (`adam`). Burn's automatic differentiation locks one graph for the whole process, so a learner belongs to
//! one plain thread and must never run inside a thread pool.
//!
//! Modules import only modules that come earlier in this list.

// Without the other crates of `burn`, above all its layers, there is less to compile. Its macros need that name.
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
pub use registry::{check, on_device, playing, random_weights, register};
pub use trainer::{FILE_SAMPLES, Trainer, TrainerSettings, first_weights};
