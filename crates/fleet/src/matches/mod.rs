//! Pairs of games of a tournament, shared out among workers.
//!
//! The arena sends blocks of pairs to a work queue. A worker plays a block, hands the records of its games to the arena,
//! and only then acknowledges the block, so the games of a worker that is lost are played again. The games depend on
//! nothing but the block.

mod host;
mod player;
mod task;

pub use host::{MatchSettings, play_matches};
pub(super) use player::Matches;
