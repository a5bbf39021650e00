//! Training runs: what watchers see, and the loop with its folder around [`train`].
//!
//! Modules import only modules that come earlier in this list.

pub mod observe;
pub mod run;

pub use jarmo_train as train;
pub use jarmo_train::{TrainError, config};
