//! What self-play saw, kept for learning: a bounded window in memory and on disk.

mod samples;
mod shard;
mod window;

pub use samples::{Sample, SampleView, Samples};
pub use window::{Replay, ReplayError, ReplaySettings};
