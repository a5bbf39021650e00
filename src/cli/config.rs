//! `jarmo config`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Failure;
use jarmo_core::net::AgentFile;
use jarmo_facade::{AnyGame, Games};
use jarmo_learn::config::Config;
use jarmo_learn::run;

/// Print the settings that a training run with these options would use
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Where the settings of a run come from.
#[derive(clap::Args)]
pub(super) struct ConfigArgs {
    /// The game, with the training settings for it: {games}
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// A file with settings that differ from the defaults (configs/default.toml); may be repeated, later
    /// files override earlier ones
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// One setting, such as selfplay.simulations=64; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ConfigArgs {
    /// All settings.
    pub(super) fn resolve(&self, games: &Games) -> Result<Config, Failure> {
        Config::of_run(games, self.game.as_deref(), None, &self.files(), &self.set).map_err(Failure::usage)
    }

    /// The settings and the game of a new run, which can start from an agent. The limits come last.
    pub(super) fn plan(
        &self,
        games: &Games,
        first: Option<&AgentFile>,
        limits: &[String],
    ) -> Result<(Config, Arc<dyn AnyGame>), Failure> {
        let settings = [&self.set[..], limits].concat();
        run::plan(games, self.game.as_deref(), first, &self.files(), &settings).map_err(Failure::usage)
    }

    fn files(&self) -> Vec<&Path> {
        self.config.iter().map(PathBuf::as_path).collect()
    }
}

pub(super) fn run(games: &Games, args: Args) -> Result<(), Failure> {
    let config = args.config.resolve(games)?;
    let mut out = std::io::stdout().lock();
    Ok(write!(out, "{}", config.to_toml())?)
}
