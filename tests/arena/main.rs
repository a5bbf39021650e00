//! Matches, ratings, and the engine protocol.

#[cfg(feature = "cli")]
#[path = "../common/nets.rs"]
mod nets;

mod checkpoints;
mod engine;
mod play;
#[cfg(feature = "cli")]
mod program;
mod rating;
mod records;
mod registered;
#[cfg(feature = "cli")]
mod stopping;
