//! `jarmo config`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{CommandResult, Failure};
use jarmo::config::Config;
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
    pub(super) fn resolve(&self) -> Result<Config, Failure> {
        Config::layered(&self.files(), &self.set).map_err(Failure::usage)
    }

    /// All settings of a run that starts from a network of this size, which becomes the default.
    pub(super) fn resolve_from(&self, net: NetConfig) -> Result<Config, Failure> {
        Config::layered_from(net, &self.files(), &self.set).map_err(Failure::usage)
    }

    fn files(&self) -> Vec<&Path> {
        self.config.iter().map(PathBuf::as_path).collect()
    }
}

pub(super) fn run(args: Args) -> CommandResult {
    let config = args.config.resolve()?;
    let mut out = std::io::stdout().lock();
    write!(out, "{}", config.to_toml())?;
    Ok(ExitCode::SUCCESS)
}
