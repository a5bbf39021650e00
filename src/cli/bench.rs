//! `jarmo bench`

use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;

#[cfg(feature = "train")]
use super::bench_selfplay;
use super::{CommandResult, bench_env, bench_net, bench_search};
use jarmo_core::numbers::SEED;
use jarmo_exact::catalog::Catalog;

/// Measure how fast this machine is
#[derive(Subcommand)]
pub(super) enum Command {
    Env(bench_env::Args),
    Search(bench_search::Args),
    #[cfg(feature = "train")]
    Selfplay(bench_selfplay::Args),
    Net(bench_net::Args),
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> CommandResult {
    match command {
        Command::Env(args) => args.game.open(games, None, &args),
        Command::Search(args) => args.game.open(games, None, &args),
        #[cfg(feature = "train")]
        Command::Selfplay(args) => bench_selfplay::run(games, args),
        Command::Net(args) => args.game.open(games, None, &args),
    }
}

/// How long to measure, with which random numbers, and how to print it.
#[derive(clap::Args)]
pub(super) struct RunArgs {
    /// Seconds per run; there are five
    #[arg(long, value_name = "S", default_value = "1", value_parser = super::seconds)]
    pub seconds: Duration,
    /// Seed of all randomness
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = SEED.parser::<u64>())]
    pub seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints a measurement as JSON or as text.
pub(super) fn report<T: serde::Serialize + std::fmt::Display>(measured: &T, json: bool) -> CommandResult {
    use std::io::Write;

    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, measured).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{measured}")?;
    }
    Ok(ExitCode::SUCCESS)
}
