//! `jarmo config`

use std::io::Write;
use std::path::{Path, PathBuf};

use super::Failure;
use jarmo_core::net::AgentFile;
use jarmo_facade::Games;
use jarmo_learn::config::Config;
use jarmo_learn::run;

/// Print the settings that a training run with these options would use
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
}

/// A run that begins.
pub(super) struct NewRun {
    pub(super) config: Config,
    pub(super) first: Option<AgentFile>,
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

    /// The settings and the game of a new run, and the agent that it starts from, if there is one. The limits come last.
    pub(super) fn plan(&self, games: &Games, from: Option<&Path>, limits: &[String]) -> Result<NewRun, Failure> {
        let settings = [&self.set[..], limits].concat();
        let (game, files) = (self.game.as_deref(), self.files());
        let first = from.map(|from| run::first_agent(games, game, from, &files, &settings));
        let first = first.transpose().map_err(Failure::new)?;
        let (config, game) = run::plan(games, game, first.as_ref(), &files, &settings).map_err(Failure::usage)?;
        if let Some(agent) = &first {
            let checked = run::check_first(game.as_ref(), &config, agent);
            checked.map_err(|error| Failure::usage(format!("--from: {error}")))?;
        }
        Ok(NewRun { config, first })
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
