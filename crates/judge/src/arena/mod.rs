//! Tournaments of agents, and their ratings with error bars.
//!
//! A [`Tournament`] plays every opening twice with the sides swapped, and counts the two games as one pair.
//! [`Standings`] add up the pairs. A [`Report`] computes ratings and formats them as text, JSON, CSV or a picture.
//! This module does not print anything, read the command line, or train networks.

mod checkpoints;
mod ladder;
mod mistakes;
mod opening;
mod plan;
mod rating;
mod report;
mod runner;
mod schedule;
mod share;
mod sprt;
mod standings;
mod stats;
mod svg;
mod table;
mod tournament;

pub use checkpoints::{Expanded, entrants, expand};
pub use ladder::Ladder;
pub use mistakes::{AtForce, Decisions, MistakeRow, PlyRange};
pub use opening::{BOARD, Openings};
pub use rating::{Bout, Cluster, Estimate, Fit, expected_score};
pub use report::{AgentRow, MatchRow, Report, Scores, read_results};
pub use runner::{Budget, Ended, Setup, Team, play_games};
pub use schedule::{GameId, Pairing};
pub use share::PairBlock;
pub use sprt::{Conclusion, ERROR_RATE, PairCounts, Sprt};
pub use standings::{Anchor, Checkpoint, Conditions, Entrant, Results, SprtState, Standings};
pub use svg::Over;
pub use tournament::{Observer, Settings, Tournament};
