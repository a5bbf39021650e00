//! Training runs: the loop around [`train`], its folder, the events that it reports, runs side by side, and sweeps of many
//! runs.
//!
//! Modules import only modules that come earlier in this list.

pub mod device;
pub mod observe;
pub mod run;
pub mod compare;
pub mod sweep;

pub use jarmo_train as train;
pub use jarmo_train::{TrainError, config};
