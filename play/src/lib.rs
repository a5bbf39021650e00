//! Playing in the terminal, by lines of text, and in a browser: three front ends of one [`session::Session`].
//!
//! [`main`] is the `play` program for the games of any catalog.

pub mod agents;
pub mod analysis;
pub(crate) mod exercise;
pub(crate) mod files;
pub mod games;
pub(crate) mod job;
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
pub(crate) mod trial;
pub mod tui;
pub(crate) mod words;

use std::io::{self, Write};
use std::process::ExitCode;

use jarmo::catalog::Catalog;

use games::Games;
use options::Options;

/// Runs the `play` program with the arguments of the process, for these games. Games that are registered are played by
/// lines of text, at the board of their own drawing.
///
/// ```no_run
/// # use jarmo::games::{Scripted, scripted::Node};
/// # fn chess() -> Scripted { Scripted::new(&Node::white([Node::end(1, 0), Node::end(0, 1)])) }
/// use std::process::ExitCode;
///
/// use jarmo::catalog::{Catalog, Empty};
///
/// fn main() -> ExitCode {
///     play::main(Empty.register(chess())) // of any type that is `Game` and `Encode`
/// }
/// ```
pub fn main<C: Catalog + Send + Sync + 'static>(catalog: C) -> ExitCode {
    match Options::read(Games::new(catalog)).run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If the message cannot be written, the exit status still reports the failure.
            let _ = writeln!(io::stderr(), "error: {}", failure.message);
            ExitCode::from(failure.status)
        }
    }
}
