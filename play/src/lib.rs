//! Playing in the terminal, by lines of text, and in a browser: three front ends of one [`session::Session`].

pub mod agents;
pub mod analysis;
pub(crate) mod exercise;
pub(crate) mod files;
pub mod lang;
pub mod lessons;
pub mod levels;
pub mod matches;
pub mod options;
pub(crate) mod plain;
pub mod puzzles;
pub mod server;
pub mod session;
pub mod specs;
pub mod table;
pub(crate) mod thought;
pub mod tui;
pub(crate) mod words;
