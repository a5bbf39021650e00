//! The command line: one short file per subcommand, which turns options into calls.
//!
//! [`main`] is the whole `jarmo` program for a list of games.

mod about;
mod accuracy;
mod accuracy_report;
mod arena;
mod bench;
mod block;
#[cfg(feature = "train")]
mod config;
#[cfg(feature = "train")]
mod device;
mod engine;
mod exam;
#[cfg(feature = "fleet")]
mod fleet;
mod inspect;
mod interrupt;
mod measure;
#[cfg(test)]
mod tests;
mod perft;
mod proof;
mod rules;
#[cfg(feature = "train")]
mod report;
#[cfg(feature = "train")]
mod runs;
#[cfg(feature = "train")]
mod sweep;
mod tables;
#[cfg(feature = "train")]
mod train;
#[cfg(feature = "fleet")]
mod worker;
mod yardstick;

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;

use jarmo_core::game::{AnyPosition, shorten};
use jarmo_core::net::AgentFile;
use jarmo_core::numbers::{NumberError, QUIET_LIMIT, SECONDS};
use jarmo_exact::agent::{AgentError, AgentSource, AgentSpec};
use jarmo_exact::catalog::GameSettings;
use jarmo_exact::{ExactError, ExactErrorKind};
use jarmo_facade::measure::MeasureError;
use jarmo_facade::{AnyGame, Games};
use jarmo_host::options::{print_error, shortened, with_negative_numbers};
use jarmo_host::program::{self, Build, cores};
use jarmo_host::{agent_file, files};

/// Train agents for small board games by self-play, let them play, and measure them
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
    #[cfg(feature = "train")]
    Report(report::Args),
    #[command(subcommand)]
    Rules(rules::Command),
    #[cfg(feature = "train")]
    Runs(runs::Args),
    #[cfg(feature = "train")]
    Sweep(sweep::Args),
    #[command(subcommand)]
    Tables(tables::Command),
    #[cfg(feature = "train")]
    Train(train::Args),
    #[cfg(feature = "fleet")]
    Worker(worker::WorkerArgs),
    Yardstick(yardstick::Args),
}

/// What this program was built from.
pub const BUILD: Build = Build {
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
            Err(error) => {
                let exact = error.downcast_ref::<ExactError>();
                let of_settings = exact.is_some_and(|wrong| wrong.kind == ExactErrorKind::Settings);
                let of_agent = matches!(error.downcast_ref(), Some(MeasureError::Agent(_))) || error.is::<AgentError>();
                match of_settings || of_agent {
                    true => Failure::usage(error),
                    false => Failure::new(error),
                }
            }
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
/// use jarmo::Games;
/// use jarmo::catalog::CatalogGame;
///
/// /// The program for any game of the kind that the catalog has.
/// fn program<G: CatalogGame>(game: G) -> ExitCode {
///     jarmo::cli::main(&Games::empty().register(game))
/// }
/// ```
///
/// # Panics
/// Panics without a game.
pub fn main(games: &Games) -> ExitCode {
    run(games, env::args_os().collect(), None).into()
}

/// Another program as a command of this one.
pub struct Inner {
    /// Its name.
    pub name: &'static str,
    /// Its options.
    pub command: fn(&Games) -> clap::Command,
    /// Runs it, and returns the exit status.
    pub run: fn(Games, &ArgMatches) -> u8,
}

/// Runs the program like [`main`], with these arguments, of which the first is what was typed to start it, and with
/// another program as one of its commands. Returns the exit status.
///
/// # Panics
/// Panics without a game.
pub fn run(games: &Games, arguments: Vec<OsString>, inner: Option<Inner>) -> u8 {
    #[cfg(feature = "train")]
    jarmo_learn::train::register_built_in();
    let started_as = arguments.first().cloned().unwrap_or_default();
    program::announce(BUILD, &started_as, inner.as_ref().map(|inner| inner.name));
    let command = Cli::command().subcommands(inner.iter().map(|inner| (inner.command)(games)));
    let command = with_negative_numbers(fill(command, &games.names().join(", "), first(games)));
    let parsed =
        command.clone().try_get_matches_from(arguments).and_then(|matches| match (inner, matches.subcommand()) {
            (Some(inner), Some((name, options))) if name == inner.name => Ok(Err((inner.run)(games.clone(), options))),
            _ => Cli::from_arg_matches(&matches).map(Ok),
        });
    let cli = match parsed {
        Ok(Ok(cli)) => cli,
        Ok(Err(status)) => return status,
        Err(error) => {
            let error = match missing_feature(&error, BUILD.features) {
                Some(problem) => command.clone().error(error.kind(), problem),
                None => shortened(error),
            };
            return print_error(&error);
        }
    };
    let result = match cli.command {
        Command::Accuracy(args) => accuracy::run(games, args),
        Command::Arena(args) => arena::run(games, &args),
        Command::Completions(args) => about::completions(with_values(command, &games.names()), args),
        Command::Bench(command) => bench::run(games, command),
        Command::Engine(args) => engine::run(games, &args),
        Command::Exam(command) => exam::run(games, command),
        Command::Proof(command) => proof::run(command),
        #[cfg(feature = "train")]
        Command::Config(args) => config::run(games, args),
        #[cfg(feature = "train")]
        Command::Export(args) => train::run_export(args),
        #[cfg(feature = "fleet")]
        Command::Fleet(command) => fleet::run(command),
        Command::Inspect(args) => inspect::run(games, args),
        Command::Man(args) => about::man(command, args),
        Command::Perft(args) => perft::run(games, &args),
        #[cfg(feature = "train")]
        Command::Report(args) => report::run(games, &args),
        Command::Rules(command) => rules::run(games, command),
        #[cfg(feature = "train")]
        Command::Runs(args) => runs::run(games, args),
        #[cfg(feature = "train")]
        Command::Sweep(args) => sweep::run(games, &args),
        Command::Tables(command) => tables::run(games, command),
        #[cfg(feature = "train")]
        Command::Train(args) => train::run(games, args),
        #[cfg(feature = "fleet")]
        Command::Worker(args) => worker::run_worker(games, args),
        Command::Yardstick(args) => yardstick::run(games, args),
    };
    match result {
        Ok(()) => 0,
        Err(Failure::Status(status)) => status,
        Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(Failure::Io(error)) => {
            eprintln!("error: standard output: {error}");
            1
        }
        Err(Failure::Message(message, status)) => {
            eprintln!("error: {message}");
            status
        }
    }
}

fn first(games: &Games) -> &'static str {
    games.names().first().expect("the program has a game")
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

/// The command and all below it, with the values that shells complete.
fn with_values(command: clap::Command, games: &[&'static str]) -> clap::Command {
    let with_own = command.mut_args(|arg| match arg.get_long() {
        Some("game") => arg.value_parser(PossibleValuesParser::new(games)),
        Some("device") => arg.value_parser(["cpu", "cuda", "wgpu"]),
        _ => arg,
    });
    with_own.mut_subcommands(|command| with_values(command, games))
}

/// Commands and options that the program has with a feature only.
const OF_FEATURES: [(&str, &str); 9] = [
    ("config", "train"),
    ("export", "train"),
    ("report", "train"),
    ("runs", "train"),
    ("sweep", "train"),
    ("train", "train"),
    ("fleet", "fleet"),
    ("worker", "fleet"),
    ("--fleet", "fleet"),
];

/// The feature that a command or an option needs, if it is unknown only because the program was built without.
fn missing_feature(error: &clap::Error, features: &[(&str, bool)]) -> Option<String> {
    let named = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|kind| error.get(kind));
    let Some(ContextValue::String(named)) = named else { return None };
    let (named, feature) = OF_FEATURES.into_iter().find(|(name, _)| name == named)?;
    let is_missing = features.contains(&(feature, false));
    is_missing.then(|| {
        format!(
            "`{named}` needs the feature {feature}, which this program was built without; build it with: cargo build \
             --release --features {feature}"
        )
    })
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
    /// A board file that replaces the standard board (jarmo and guard), or random:SEED
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
}

impl RuleArgs {
    /// The settings, with this move limit.
    pub(crate) fn settings(&self, max_plies: Option<u32>) -> GameSettings {
        GameSettings { board: self.board.clone(), quiet_limit: self.quiet_limit, max_plies }
    }
}

impl GameArgs {
    /// The game, with this move limit.
    pub(crate) fn open(&self, games: &Games, max_plies: Option<u32>) -> Result<Arc<dyn AnyGame>, Failure> {
        let name = self.game.as_deref().unwrap_or_else(|| first(games));
        Ok(games.open(name, &self.rules.settings(max_plies))?)
    }
}

/// The game of an agent file, if the spec names one. What else is wrong with the file is reported when the agent is built.
fn game_of_file(games: &Games, spec: &AgentSpec) -> Result<Option<String>, Failure> {
    let AgentSpec::Network(AgentSource::File(path), _) = spec else {
        return Ok(None);
    };
    let Ok(file) = agent_file::load(path) else {
        return Ok(None);
    };
    let game = &file.header().version.game;
    match games.names().contains(&game.as_str()) {
        true => Ok(Some(game.clone())),
        false => Err(in_file(path, unknown_game(games, game))),
    }
}

/// Reads an agent file; the folder of a run stands for its newest checkpoint.
fn load_agent(path: &Path) -> Result<AgentFile, Failure> {
    if path.as_os_str() == "trained" && !path.exists() {
        let problem = "this command needs a file; that of `trained` is checkpoints/GAME.safetensors in the source code";
        return Err(Failure::usage(problem));
    }
    Ok(agent_file::load(path)?)
}

/// What is wrong with an agent file for a game that this program does not have.
fn unknown_game(games: &Games, game: &str) -> String {
    let (game, names) = (shorten(game), games.names().join(", "));
    format!("it plays {game}, but this program only has {names}; use the program that registers {game}")
}

/// The position that `--position` names: the start of the game without it, or with `start`.
fn position_of(game: &dyn AnyGame, text: Option<&str>) -> Result<AnyPosition, Failure> {
    match text {
        None | Some("start") => Ok(game.facts().start.clone()),
        Some(text) => game.parse(text).map_err(|error| Failure::usage(format!("--position: {error}"))),
    }
}

/// Rejects an output that cannot be written, before any work is done for it.
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

fn seconds(text: &str) -> Result<Duration, NumberError<f64>> {
    SECONDS.parse(text).map(Duration::from_secs_f64)
}
