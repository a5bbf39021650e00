//! A game between people and agents, in five languages: everything that a person sees and does, independent of the user
//! interface.
//!
//! A [`session::Session`] never searches, waits, or reads a clock. Terminal, server and browser tab run its jobs and
//! pass it the answers. [`page`] has the messages of the page, which a server or the tab itself answers.

pub mod agents;
pub mod analysis;
pub mod error;
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
