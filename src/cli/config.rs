//! `jarmo config`

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Failure, first};
use jarmo_core::net::NetSettings;
use jarmo_exact::catalog::Catalog;
use jarmo_learn::RunError;
use jarmo_learn::config::{Base, Config, in_file};

/// Print the settings of a training run with these options
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Where the settings of a run come from.
#[derive(clap::Args)]
pub(super) struct ConfigArgs {
    /// The game, with the settings that suit it: {games}
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
    /// All settings; those of the first game if nothing here can name one. The size of the network that a run starts
    /// from becomes the default. The limits come last.
    pub(super) fn resolve<C: Catalog>(
        &self,
        games: &C,
        net: Option<NetSettings>,
        limits: &[String],
    ) -> Result<Config, Failure> {
        let names_a_game = |setting: &String| setting.trim_start().starts_with("game.name");
        let may_name_another = !self.config.is_empty() || self.set.iter().any(names_a_game);
        let default = (!may_name_another).then(|| first(games).to_owned());
        let base = Base { games: games.games(), game: self.game.clone().or(default), net };
        let settings = [&self.set[..], limits].concat();
        Config::layered(&base, &self.files(), &settings).map_err(Failure::usage)
    }

    /// An error about the settings, with the file that sets them.
    pub(super) fn in_file(&self, error: RunError) -> Failure {
        Failure::usage(in_file(error, &self.files(), &self.set))
    }

    fn files(&self) -> Vec<&Path> {
        self.config.iter().map(PathBuf::as_path).collect()
    }
}

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> Result<(), Failure> {
    let config = args.config.resolve(games, None, &[])?;
    let mut out = std::io::stdout().lock();
    Ok(write!(out, "{}", config.to_toml())?)
}
