//! The machines of `jarmo train --fleet`.

use super::how_to_resume;
use crate::cli::Failure;
use crate::cli::fleet::AddressArgs;
use jarmo_exact::catalog::CatalogGame;
use jarmo_fleet::{Learner, LearnerSettings, Link};
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
    address: AddressArgs,
    /// With --fleet: learn only, and leave all play to the workers
    #[arg(long, requires = "fleet")]
    no_play: bool,
}

impl FleetArgs {
    /// The machines, if there are any.
    pub(super) fn open<G: CatalogGame>(
        &self,
        game: &G,
        config: &Config,
        folder: &RunFolder,
    ) -> Result<Option<Machines>, Failure> {
        let Some(url) = &self.fleet else {
            return match self.address.is_given() {
                true => Err(Failure::usage("--key and --authority need --fleet")),
                false => Ok(None),
            };
        };
        let again = how_to_resume(folder.path());
        let wrong = |error| Failure::new(format!("{error}\n{again}{AS_BEFORE}"));
        let link = Link::open(&self.address.at(url), "learner").map_err(wrong)?;
        let settings = LearnerSettings {
            run: folder.identity().map_err(Failure::new)?,
            folder: folder.path().to_owned(),
            config,
        };
        let learner = Learner::open(link, game, settings).map_err(wrong)?;
        Ok(Some(Machines {
            learner,
            plays_here: !self.no_play,
        }))
    }
}

/// The learner of a fleet.
pub(super) struct Machines {
    learner: Learner,
    plays_here: bool,
}

impl Machines {
    pub(super) fn fleet(&self) -> Fleet<'_> {
        Fleet {
            supply: &self.learner,
            plays_here: self.plays_here,
        }
    }
}
