//! The command line: one short file per command, which turns options into calls.

mod balance;
mod exam;
mod explorer;
mod pictures;
mod proof;
mod puzzles;
mod real;
mod round;
mod shuttle;
mod signature;
mod tables;

use std::error::Error;
use std::io::{self, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::ceiling;
use jarmo_core::games::Jarmo;
use jarmo_core::games::board::{Board, DEFAULT_MAX_PLIES};
use jarmo_host::files::{SETTINGS_BYTES, check_output, read_text};
use jarmo_host::program::cores;

/// The result of a command. Every error ends the program with exit status 1.
type CommandResult = Result<(), Box<dyn Error>>;

/// Make the files that come with jarmo, and measure what its decisions rest on
#[derive(Parser)]
#[command(name = "lab", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Balance(balance::Args),
    Ceiling(ceiling::Args),
    Exam(exam::Args),
    Explorer(explorer::Args),
    Pictures(pictures::Args),
    Proof(proof::Args),
    Puzzles(puzzles::Args),
    #[command(subcommand)]
    Real(real::Command),
    Round(round::Args),
    Shuttle(shuttle::Args),
    /// Print a checksum of search trees for fixed positions of every game; it is the same on every machine
    Signature,
    #[command(subcommand)]
    Tables(tables::Command),
}

/// Reads the name of a file to write; an output that cannot be written is rejected before any work is done for it.
fn output(name: &str) -> io::Result<PathBuf> {
    let path = PathBuf::from(name);
    check_output(&path).map(|()| path)
}

/// The definition of the command line.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Balance(args) => balance::run(&args),
        Command::Ceiling(args) => ceiling::run(&args, &mut stdout().lock()),
        Command::Exam(args) => exam::run(&args),
        Command::Explorer(args) => explorer::run(&args),
        Command::Pictures(args) => pictures::run(&args),
        Command::Proof(args) => proof::run(&args),
        Command::Puzzles(args) => puzzles::run(&args),
        Command::Real(command) => real::run(&command),
        Command::Round(args) => round::run(&args),
        Command::Shuttle(args) => shuttle::run(&args),
        Command::Signature => signature::run(),
        Command::Tables(command) => tables::run(&command),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The board of jarmo.
#[derive(clap::Args)]
struct BoardArgs {
    /// A board file that replaces the standard board (jarmo)
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
}

impl BoardArgs {
    /// Jarmo on this board.
    fn jarmo(&self) -> Result<Jarmo, Box<dyn Error>> {
        let Some(path) = &self.board else {
            return Ok(Jarmo::standard());
        };
        let board = Board::from_toml(&read_text(path, SETTINGS_BYTES)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Jarmo::new(board, DEFAULT_MAX_PLIES))
    }
}

/// A pool with the threads of `--threads`, or one per core.
fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, Box<dyn Error>> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.unwrap_or_else(cores));
    Ok(pool.build()?)
}
