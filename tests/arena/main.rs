//! Matches, ratings, and the engine protocol.

#[path = "../common/nets.rs"]
mod nets;

mod checkpoints;
mod engine;
mod play;
mod program;
mod rating;
mod records;
mod registered;
mod stopping;
