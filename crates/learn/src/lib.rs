//! From samples to weights: training with burn, settings in layers, what watchers see, and the training loop.
//!
//! Modules import only modules that come earlier in this list.

mod error;
pub mod train;
pub mod config;
pub mod observe;
pub mod run;

pub use error::RunError;
