//! Playing in the terminal, by lines of text, and in a browser: three front ends of one [`session::Session`].
//!
//! [`main`] is the `play` program for the games of any catalog.

pub(crate) mod book;
pub(crate) mod exercise;
pub(crate) mod files;
pub mod machine;
pub mod options;
pub(crate) mod plain;
pub mod server;
pub mod tui;

use jarmo_session::words;
pub use jarmo_session::{
    agents, analysis, board, games, lang, lessons, levels, matches, puzzles, session, specs, thought,
};

use std::io::{self, Write};
use std::process::ExitCode;

use jarmo_exact::catalog::Catalog;

use games::Games;
use options::Options;

/// Runs the `play` program with the arguments of the process, for these games. Games that are registered are played by
/// lines of text, at the board of their own drawing, and in a browser.
///
/// ```
/// use std::process::ExitCode;
///
/// use jarmo::catalog::{Catalog, Empty};
/// use jarmo::encode::Encode;
///
/// /// The program for any game that has rules and features.
/// fn program<G: Encode>(game: G) -> ExitCode {
///     play::main(Empty.register(game))
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
