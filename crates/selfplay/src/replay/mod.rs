//! The replay buffer: the newest samples of self-play, in memory, and their bytes.

mod samples;
mod shard;
mod window;

pub use samples::{Sample, Samples};
pub use window::{ReplaySettings, Window};
