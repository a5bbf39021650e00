//! The command line: one short file per subcommand, which turns options into calls.

mod about;
mod accuracy;
mod arena;
mod balance;
mod bench;
mod bench_env;
mod bench_net;
mod bench_search;
#[cfg(feature = "net")]
mod bench_selfplay;
mod bench_signature;
mod block;
#[cfg(feature = "net")]
mod config;
mod engine;
mod exam;
mod inspect;
mod interrupt;
mod net_args;
#[cfg(test)]
mod numbers;
mod perft;
mod proof;
mod puzzles;
mod rules;
mod solved;
mod tables;
#[cfg(feature = "net")]
mod train;

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuilder};

use jarmo::catalog::{GAMES, GameError, GameSettings};
use jarmo::game::{Game, shorten};
use jarmo::numbers::{QUIET_LIMIT, SECONDS};
use jarmo::program::{self, cores};

/// Small board games: exact rules, a vectorised environment, search, and agents that play
#[derive(Parser)]
#[command(name = "jarmo", version = program::version(), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Accuracy(accuracy::Args),
    Arena(arena::Args),
    Completions(about::CompletionsArgs),
    #[command(subcommand)]
    Bench(bench::Command),
    Engine(engine::Args),
    #[command(subcommand)]
    Exam(exam::Command),
    #[command(subcommand)]
    Proof(proof::Command),
    #[cfg(feature = "net")]
    Config(config::Args),
    #[cfg(feature = "net")]
    Export(train::ExportArgs),
    Inspect(inspect::Args),
    Man(about::ManArgs),
    Perft(perft::Args),
    #[command(subcommand)]
    Rules(rules::Command),
    #[command(subcommand)]
    Tables(tables::Command),
    #[cfg(feature = "net")]
    Train(train::Args),
}

/// Why a command ended early.
pub(crate) enum Failure {
    /// A message and the exit status.
    Message(String, u8),
    /// Reading or writing failed. A closed pipe is no error and ends quietly.
    Io(io::Error),
}

impl Failure {
    /// A failure outside the program, such as a missing file: exit status 1.
    pub(crate) fn new(message: impl Display) -> Failure {
        Failure::Message(message.to_string(), 1)
    }

    /// Wrong options: exit status 2, as for any option that does not parse.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::Message(message.to_string(), 2)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl From<GameError> for Failure {
    fn from(error: GameError) -> Failure {
        Failure::usage(error)
    }
}

/// The result of a command.
pub(crate) type CommandResult = Result<ExitCode, Failure>;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| shortened(error).exit());
    let result = match cli.command {
        Command::Accuracy(args) => accuracy::run(args),
        Command::Arena(args) => arena::run(args),
        Command::Completions(args) => about::completions(args),
        Command::Bench(command) => bench::run(command),
        Command::Engine(args) => engine::run(args),
        Command::Exam(command) => exam::run(command),
        Command::Proof(command) => proof::run(command),
        #[cfg(feature = "net")]
        Command::Config(args) => config::run(args),
        #[cfg(feature = "net")]
        Command::Export(args) => train::run_export(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Man(args) => about::man(args),
        Command::Perft(args) => perft::run(args),
        Command::Rules(command) => rules::run(command),
        Command::Tables(command) => tables::run(command),
        #[cfg(feature = "net")]
        Command::Train(args) => train::run(args),
    };
    match result {
        Ok(status) => status,
        Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Io(error)) => {
            eprintln!("error: standard output: {error}");
            ExitCode::FAILURE
        }
        Err(Failure::Message(message, status)) => {
            eprintln!("error: {message}");
            ExitCode::from(status)
        }
    }
}

/// The error with a short form of what was given.
fn shortened(mut error: clap::Error) -> clap::Error {
    use ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
    for kind in [InvalidArg, InvalidSubcommand, InvalidValue] {
        if let Some(ContextValue::String(text)) = error.get(kind) {
            let short = ContextValue::String(shorten(text));
            error.insert(kind, short);
        }
    }
    error.remove(ContextKind::Suggested); // it repeats the argument
    error
}

/// A game and the settings of its rules.
#[derive(clap::Args)]
pub(crate) struct GameArgs {
    /// The game
    #[arg(long, default_value = "jarmo", value_name = "NAME", help = game_help())]
    pub(crate) game: String,
    /// A board file with other lines than the standard board (jarmo and guard)
    #[arg(long, value_name = "FILE")]
    pub(crate) board: Option<PathBuf>,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    pub(crate) quiet_limit: Option<u32>,
}

fn game_help() -> String {
    format!("The game: {}", GAMES.join(", "))
}

impl GameArgs {
    /// The settings, with this limit on the length of a game.
    pub(crate) fn settings(&self, max_plies: Option<u32>) -> GameSettings {
        GameSettings {
            board: self.board.clone(),
            quiet_limit: self.quiet_limit,
            max_plies,
        }
    }
}

/// The position that `--position` names: the start of the game without it, or with `start`.
fn position_of<G: Game>(game: &G, text: Option<&str>) -> Result<G::Position, Failure> {
    match text {
        None | Some("start") => Ok(game.start()),
        Some(text) => game
            .parse_position(text)
            .map_err(|error| Failure::usage(format!("--position: {error}"))),
    }
}

/// A pool with the threads of `--threads`, or one per core.
fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, Failure> {
    let threads = threads.unwrap_or_else(cores);
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::new(format!("--threads {threads}: {error}")))
}

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    SECONDS.parse(text).map(Duration::from_secs_f64)
}
