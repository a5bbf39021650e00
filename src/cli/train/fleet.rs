//! The machines of `jarmo train --fleet`.

use crate::cli::Failure;
use crate::cli::fleet::AccessArgs;
use jarmo_facade::AnyGame;
use jarmo_fleet::{Link, NatsSupply, run_id};
use jarmo_learn::config::Config;
use jarmo_learn::run::RunFolder;

#[derive(clap::Args)]
pub(super) struct FleetArgs {
    /// Let other machines play as well, through the server at this address (see `jarmo fleet up`)
    #[arg(long, value_name = "URL")]
    pub(super) fleet: Option<String>,
    #[command(flatten)]
    pub(super) access: AccessArgs,
    /// With --fleet: learn only, and leave all play to the workers
    #[arg(long, requires = "fleet")]
    pub(super) no_play: bool,
}

impl FleetArgs {
    /// The options, to be given again when the run is resumed.
    pub(super) fn to_repeat(&self) -> String {
        let Some(url) = &self.fleet else { return String::new() };
        let no_play = if self.no_play { " --no-play" } else { "" };
        format!(" --fleet {url}{}{no_play}", self.access.to_repeat())
    }
}

/// The machines behind a connection.
pub(super) fn open(
    link: Link,
    game: &dyn AnyGame,
    config: &Config,
    folder: &RunFolder,
    resume: &str,
) -> Result<NatsSupply, Failure> {
    let wrong = |error| Failure::new(format!("{error}\ncontinue with: {resume}"));
    let run = run_id(folder.path()).map_err(wrong)?;
    NatsSupply::open(link, game, run, folder.path(), config).map_err(wrong)
}
