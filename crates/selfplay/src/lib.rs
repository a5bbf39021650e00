//! From games to samples: self-play with search, and a bounded window of samples in memory and on disk.
//!
//! Modules import only modules that come earlier in this list.

mod error;
pub mod replay;
pub mod selfplay;
pub mod bench;

pub use error::SelfPlayError;
