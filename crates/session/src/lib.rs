//! A game between people and agents, in five languages: what a person sees and does, whatever shows it.
//!
//! A [`session::Session`] never searches, waits, or looks at a clock. Terminal, server and browser tab run its jobs
//! and give it the answers. [`page`] has the messages of the page, whether a server or the tab itself answers them.

pub mod agents;
pub mod analysis;
pub mod lang;
pub mod lessons;
pub mod levels;
pub mod matches;
pub mod page;
pub mod puzzles;
pub mod session;
pub mod specs;
pub mod board;
pub mod thought;
pub mod tree;
pub mod words;
