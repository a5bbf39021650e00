//! The command line: one short file per subcommand, which turns options into calls.
//!
//! [`main`] is the whole `jarmo` program for the games of a catalog.

mod about;
mod accuracy;
mod accuracy_report;
mod arena;
mod bench;
mod block;
#[cfg(feature = "train")]
mod config;
mod engine;
mod exam;
#[cfg(feature = "fleet")]
mod fleet;
mod inspect;
mod interrupt;
#[cfg(test)]
mod tests;
mod perft;
mod proof;
mod rules;
mod tables;
#[cfg(feature = "train")]
mod train;
#[cfg(feature = "fleet")]
mod worker;
mod yardstick;

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;

use jarmo_core::game::{Game, shorten};
use jarmo_core::numbers::{QUIET_LIMIT, SECONDS};
use jarmo_exact::agent::{AgentSource, AgentSpec};
use jarmo_exact::catalog::{Catalog, GameSettings, GameTask};
use jarmo_exact::{ExactError, ExactErrorKind};
use jarmo_host::program::{self, Build, cores};
use jarmo_host::{agent_file, files};

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
    #[cfg(feature = "train")]
    Config(config::Args),
    #[cfg(feature = "train")]
    Export(train::ExportArgs),
    #[cfg(feature = "fleet")]
    #[command(subcommand)]
    Fleet(fleet::Command),
    Inspect(inspect::Args),
    Man(about::ManArgs),
    Perft(perft::Args),
    #[command(subcommand)]
    Rules(rules::Command),
    #[command(subcommand)]
    Tables(tables::Command),
    #[cfg(feature = "train")]
    Train(train::Args),
    #[cfg(feature = "fleet")]
    Worker(worker::WorkerArgs),
    Yardstick(yardstick::Args),
}

/// What this program was built from.
const BUILD: Build = Build {
    commit: env!("JARMO_COMMIT"),
    is_changed: matches!(env!("JARMO_CHANGED").as_bytes(), b"true"),
    toolchain: env!("JARMO_TOOLCHAIN"),
    features: &[
        ("train", cfg!(feature = "train")),
        ("cuda", cfg!(feature = "cuda")),
        ("wgpu", cfg!(feature = "wgpu")),
        ("fleet", cfg!(feature = "fleet")),
    ],
};

/// Why a command ended early.
pub(crate) enum Failure {
    /// A message and the exit status.
    Message(String, u8),
    /// Reading or writing failed. A closed pipe is no error and ends quietly.
    Io(io::Error),
    /// The exit status of a command that has said why.
    Status(u8),
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

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        let error: Box<dyn Error> = Box::new(error);
        match error.downcast::<io::Error>() {
            Ok(error) => Failure::Io(*error),
            Err(error) => match error.downcast_ref::<ExactError>() {
                Some(wrong) if wrong.kind == ExactErrorKind::Settings => Failure::usage(error),
                _ => Failure::new(error),
            },
        }
    }
}

/// Runs the `jarmo` program with the arguments of the process, for these games. The first one is the default.
///
/// A crate with a game of its own calls this function from its own `main`:
///
/// ```
/// use std::process::ExitCode;
///
/// use jarmo::catalog::{Catalog, Empty};
/// use jarmo::encode::Encode;
///
/// /// The program for any game that has rules and features.
/// fn program<G: Encode>(game: G) -> ExitCode {
///     jarmo::cli::main(&Empty.register(game))
/// }
/// ```
///
/// # Panics
/// Panics without a game.
pub fn main<C: Catalog>(games: &C) -> ExitCode {
    program::announce(BUILD);
    let command = fill(Cli::command(), &games.names().join(", "), first(games));
    let matches = command.clone().try_get_matches();
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = cli.unwrap_or_else(|error| shortened(error).exit());
    let result = match cli.command {
        Command::Accuracy(args) => accuracy::run(games, args),
        Command::Arena(args) => args.game.open(games, None, &args),
        Command::Completions(args) => about::completions(command, args),
        Command::Bench(command) => bench::run(games, command),
        Command::Engine(args) => args.game.open(games, None, &args),
        Command::Exam(command) => exam::run(games, command),
        Command::Proof(command) => proof::run(command),
        #[cfg(feature = "train")]
        Command::Config(args) => config::run(games, args),
        #[cfg(feature = "train")]
        Command::Export(args) => train::run_export(args),
        #[cfg(feature = "fleet")]
        Command::Fleet(command) => fleet::run(games, command),
        Command::Inspect(args) => inspect::run(games, args),
        Command::Man(args) => about::man(command, args),
        Command::Perft(args) => args.game.open(games, Some(0), &args), // no limit
        Command::Rules(command) => rules::run(games, command),
        Command::Tables(command) => tables::run(games, command),
        #[cfg(feature = "train")]
        Command::Train(args) => train::run(games, args),
        #[cfg(feature = "fleet")]
        Command::Worker(args) => worker::run_worker(games, args),
        Command::Yardstick(args) => yardstick::run(games, args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Status(status)) => ExitCode::from(status),
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

fn first<C: Catalog>(games: &C) -> &'static str {
    let names = games.names();
    names.first().expect("the program has a game")
}

/// The command and all below it, with the names of the games in the help texts: all for `{games}`, the first one for
/// `{first}`.
fn fill(command: clap::Command, games: &str, first: &str) -> clap::Command {
    let with_help = command.mut_args(|arg| match arg.get_help().map(ToString::to_string) {
        Some(help) if help.contains('{') => arg.help(help.replace("{games}", games).replace("{first}", first)),
        _ => arg,
    });
    with_help.mut_subcommands(|command| fill(command, games, first))
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
    /// The game: {games} [default: {first}]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    #[command(flatten)]
    rules: RuleArgs,
}

/// The settings of the rules.
#[derive(clap::Args)]
pub(crate) struct RuleArgs {
    /// A board file with other lines than the standard board (jarmo and guard)
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
}

impl RuleArgs {
    /// The settings, with this limit on the length of a game.
    pub(crate) fn settings(&self, max_plies: Option<u32>) -> GameSettings {
        GameSettings { board: self.board.clone(), quiet_limit: self.quiet_limit, max_plies }
    }
}

impl GameArgs {
    /// Does something with the game, with this limit on its length.
    pub(crate) fn open<C: Catalog, T: GameTask<Output = Result<(), Failure>>>(
        &self,
        games: &C,
        max_plies: Option<u32>,
        task: T,
    ) -> Result<(), Failure> {
        let name = self.game.as_deref().unwrap_or_else(|| first(games));
        games.with_game(name, &self.rules.settings(max_plies), task)?
    }
}

/// The game of an agent file. What is wrong with the file is reported when the agent is built.
fn game_of_file(spec: &AgentSpec) -> Option<String> {
    let AgentSpec::Network(AgentSource::File(path), _) = spec else {
        return None;
    };
    Some(agent_file::load(path).ok()?.header().version.game.clone())
}

/// The position that `--position` names: the start of the game without it, or with `start`.
fn position_of<G: Game>(game: &G, text: Option<&str>) -> Result<G::Position, Failure> {
    match text {
        None | Some("start") => Ok(game.start()),
        Some(text) => game.parse_position(text).map_err(|error| Failure::usage(format!("--position: {error}"))),
    }
}

/// Refuses an output that is there but is no regular file, before any work is done for it.
fn check_output(path: Option<&Path>) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| files::check_output(path).map_err(|error| in_file(path, error)))
}

/// Writes a file as a whole or not at all.
fn write_output(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    files::write_whole(path, content.as_ref()).map_err(|error| in_file(path, error))
}

/// Prints a result as a line of JSON or as text.
fn print(result: &(impl Serialize + Display), json: bool) -> Result<(), Failure> {
    let text = if json { serde_json::to_string(result)? } else { result.to_string() };
    Ok(writeln!(io::stdout(), "{}", text.trim_end())?)
}

fn in_file(path: &Path, problem: impl Display) -> Failure {
    Failure::new(format!("{}: {problem}", path.display()))
}

/// A pool with the threads of `--threads`, or one per core.
fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, Failure> {
    let threads = threads.unwrap_or_else(cores);
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::new(format!("--threads {threads}: {error}")))
}

fn seconds(text: &str) -> Result<Duration, String> {
    SECONDS.parse(text).map(Duration::from_secs_f64)
}
