//! Everything that also runs in a browser tab: the rules of board games, environments of many games, search, networks
//! for play, and agents.
//!
//! This crate reads no files, does not use the clock, and starts no threads except those of rayon. Modules import
//! only modules that come earlier in this list.

pub mod error;
pub mod checksum;
pub mod game;
pub mod random;
pub mod games;
pub mod numbers;
pub mod view;
pub mod encode;
pub mod env;
pub mod record;
pub mod known;
pub mod eval;
pub mod search;
pub mod net;
pub mod agent;

/// Arrays of the environment, of any number of dimensions.
pub use ndarray;
