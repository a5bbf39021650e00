//! From games to samples: self-play with search, and a bounded window of samples in memory and on disk.
//!
//! Modules import only modules that come earlier in this list.

pub mod replay;
pub mod selfplay;
pub mod bench;
