//! What watchers see of a run: a line of metrics every few steps, and TensorBoard's form of it.
//!
//! Nothing here decides anything; a run fills it in and whoever watches reads it.

mod metrics;
mod tensorboard;

pub use metrics::{MatchScore, Metrics, Strength, Timing};
pub use tensorboard::EventFile;
