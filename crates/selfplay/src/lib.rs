//! Turns games into samples: self-play with search, and a replay buffer in memory. Only `bench` has a clock.
//!
//! Modules import only modules that come earlier in this list.

pub mod replay;
pub mod selfplay;
#[cfg(feature = "bench")]
pub mod bench;
