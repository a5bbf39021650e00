//! Looking ahead: simple judgements of positions, and what is built on them.
//!
//! Nothing here draws a random number, starts a thread or knows a network.

pub mod heuristic;

pub use heuristic::{Heuristic, Judged};
