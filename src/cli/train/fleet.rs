//! The machines of `jarmo train --fleet`.

use super::how_to_resume;
use crate::cli::Failure;
use crate::cli::fleet::AccessArgs;
use jarmo_exact::catalog::CatalogGame;
use jarmo_fleet::{Link, NatsSupply};
use jarmo_learn::config::Config;
use jarmo_learn::run::RunFolder;

/// What to add to the command that continues a run with a fleet.
pub(super) const AS_BEFORE: &str = ", with --fleet and its options as before";

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

/// The machines behind a connection.
pub(super) fn open<G: CatalogGame>(
    link: Link,
    game: &G,
    config: &Config,
    folder: &RunFolder,
) -> Result<NatsSupply, Failure> {
    let again = how_to_resume(folder.path());
    let wrong = |error| Failure::new(format!("{error}\n{again}{AS_BEFORE}"));
    NatsSupply::open(link, game, folder.identity()?, folder.path(), config).map_err(wrong)
}
