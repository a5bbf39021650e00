//! Playing: in the terminal, as plain lines, and in a browser, all around one [`session::Session`].

pub mod agents;
pub mod analysis;
pub(crate) mod files;
pub mod lang;
pub mod options;
pub mod plain;
pub mod session;
pub mod specs;
pub mod table;
pub mod thought;
pub mod tui;
pub mod server;
pub mod words;
