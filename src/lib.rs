//! Self-play learning for small board games: exact rules, a vectorised environment, search, training,
//! exact endgames, and agents that play.
//!
//! A module imports only modules above it in this list.

pub mod program;
pub mod game;
pub mod games;
pub mod random;
pub mod board;
pub mod files;
pub mod encode;
pub mod tables;
pub mod env;
pub mod eval;
pub mod search;
pub mod net;
pub mod catalog;
pub mod probe;
pub mod agent;
pub mod accuracy;
pub mod record;
pub mod arena;
pub mod engine;
pub mod replay;
pub mod selfplay;
pub mod bench;
#[cfg(feature = "net")]
pub mod train;
#[cfg(feature = "net")]
pub mod config;
#[cfg(feature = "net")]
pub mod observe;
#[cfg(feature = "net")]
pub mod run;
pub mod cli;
#[cfg(feature = "play")]
pub mod play;

/// The README's examples, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
