//! The replay window: the newest samples of self-play, in memory and on disk.

mod samples;
mod shard;
mod window;

pub use samples::{Sample, Samples};
pub use window::{Replay, ReplaySettings};
