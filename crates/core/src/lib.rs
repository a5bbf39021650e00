//! What runs in a browser tab: the rules of board games, many games in lockstep, search, frozen networks and agents.
//!
//! This crate reads no files, knows no time of day, and starts no threads but those of rayon. Modules import only
//! modules that come earlier in this list.

pub mod error;
pub mod checksum;
pub mod game;
pub mod games;
pub mod numbers;
pub mod random;
pub mod view;
pub mod encode;
pub mod env;
pub mod record;
pub mod known;
pub mod eval;
pub mod search;
pub mod net;
pub mod agent;
