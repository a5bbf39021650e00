//! The machines of `jarmo train --fleet`.

use super::how_to_resume;
use crate::cli::Failure;
use crate::cli::fleet::AccessArgs;
use jarmo_exact::catalog::CatalogGame;
use jarmo_fleet::{Link, NatsSupply, SupplySettings};
use jarmo_learn::config::Config;
use jarmo_learn::run::{Fleet, RunFolder};

/// What to add to the command that continues a run with a fleet.
pub(super) const AS_BEFORE: &str = ", with --fleet and its options as before";

#[derive(clap::Args)]
pub(super) struct FleetArgs {
    /// Let other machines play as well, through the server at this address (see `jarmo fleet up`)
    #[arg(long, value_name = "URL")]
    fleet: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
    /// With --fleet: learn only, and leave all play to the workers
    #[arg(long, requires = "fleet")]
    no_play: bool,
}

impl FleetArgs {
    /// The connection to the server, if there is one. It is made before anything is written.
    pub(super) fn connect(&self) -> Result<Option<Link>, Failure> {
        self.access.connect(self.fleet.as_deref(), "learner")
    }

    /// The machines, if there are any.
    pub(super) fn open<G: CatalogGame>(
        &self,
        link: Option<Link>,
        game: &G,
        config: &Config,
        folder: &RunFolder,
    ) -> Result<Option<NatsSupply>, Failure> {
        let Some(link) = link else {
            return Ok(None);
        };
        let again = how_to_resume(folder.path());
        let wrong = |error| Failure::new(format!("{error}\n{again}{AS_BEFORE}"));
        let settings = SupplySettings { run: folder.identity()?, folder: folder.path().to_owned(), config };
        NatsSupply::open(link, game, settings).map(Some).map_err(wrong)
    }

    /// The machines of a run, and whether this one plays.
    pub(super) fn fleet<'a>(&self, supply: &'a NatsSupply) -> Fleet<'a> {
        Fleet { supply, plays_here: !self.no_play }
    }
}
