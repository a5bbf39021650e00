//! Training runs: the loop around [`train`], its folder, and the events that it reports.
//!
//! Modules import only modules that come earlier in this list.

pub mod observe;
pub mod run;

pub use jarmo_train as train;
pub use jarmo_train::{TrainError, config};
