//! Pairs of games of a tournament, shared out among workers.
//!
//! A worker asks the arena for a block of pairs, plays it and answers with the records of its games. The games depend on
//! nothing but the block, so the arena gives a block that is late to another worker, and the first answer counts: neither
//! a lost worker nor one that keeps blocks holds a match up.

mod host;
mod player;
mod task;

pub use host::{MatchSettings, play_matches};
pub(super) use player::Matches;
