//! Playing in the terminal, by lines of text, and in a browser: three front ends of one [`session::Session`].
//!
//! [`main`] is the `play` program for any list of games.

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
    agents, analysis, board, error, lang, lessons, levels, matches, puzzles, session, specs, thought, tree,
};

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::ArgMatches;

pub use jarmo_facade::Games;

use jarmo_host::options::print_error;
use options::{Failure, Options};

/// Runs the `play` program with the arguments of the process, for these games. Games that are registered are played by
/// lines of text, at the board of their own drawing, and in a browser.
///
/// ```
/// use std::process::ExitCode;
///
/// use jarmo::Games;
/// use jarmo::catalog::CatalogGame;
///
/// /// The program for any game of the kind that the catalog has.
/// fn program<G: CatalogGame>(game: G) -> ExitCode {
///     play::main(Games::empty().register(game))
/// }
/// ```
pub fn main(games: Games) -> ExitCode {
    match Options::of(games, env::args_os()) {
        Ok(options) => ended(options.run()).into(),
        Err(error) => print_error(&error).into(),
    }
}

/// Runs the program with options that another one has parsed by [`options::command`], as one of its commands. Returns the
/// exit status.
pub fn run(games: Games, matches: &ArgMatches) -> u8 {
    match Options::parsed(games, matches) {
        Ok(options) => ended(options.run()),
        Err(error) => print_error(&error),
    }
}

fn ended(result: Result<(), Failure>) -> u8 {
    let Err(failure) = result else { return 0 };
    // If the message cannot be written, the exit status still reports the failure.
    let _ = writeln!(io::stderr(), "error: {}", failure.message);
    failure.status
}
