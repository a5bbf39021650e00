//! `jarmo config`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{CommandResult, Failure};
use jarmo::catalog::GAMES;
use jarmo::config::{Base, Config};
use jarmo::net::NetConfig;

/// Print the settings of a training run with these options
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Where the settings of a run come from.
#[derive(clap::Args)]
pub(super) struct ConfigArgs {
    #[arg(long, value_name = "NAME", help = game_help())]
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
    /// All settings. The size of the network that a run starts from becomes the default.
    pub(super) fn resolve(&self, net: Option<NetConfig>) -> Result<Config, Failure> {
        let base = Base {
            game: self.game.clone(),
            net,
        };
        Config::layered_on(&base, &self.files(), &self.set).map_err(Failure::usage)
    }

    fn files(&self) -> Vec<&Path> {
        self.config.iter().map(PathBuf::as_path).collect()
    }
}

fn game_help() -> String {
    format!(
        "The game, with the settings that suit it: {}",
        GAMES.join(", ")
    )
}

pub(super) fn run(args: Args) -> CommandResult {
    let config = args.config.resolve(None)?;
    let mut out = std::io::stdout().lock();
    write!(out, "{}", config.to_toml())?;
    Ok(ExitCode::SUCCESS)
}
