//! The machines of `jarmo arena --fleet`.

use std::sync::atomic::AtomicBool;

use super::Failure;
use super::fleet::AccessArgs;
use jarmo_exact::agent::AgentSpec;
use jarmo_exact::catalog::{CatalogGame, GameSettings};
use jarmo_fleet::{Link, MatchSettings, play_matches};
use jarmo_judge::arena::{Observer, Tournament};

#[derive(clap::Args)]
pub(super) struct FleetArgs {
    /// Let the workers of the server at this address play all games (see `jarmo fleet up`)
    #[arg(long, value_name = "URL", conflicts_with_all = ["movetime", "threads"])]
    fleet: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
}

impl FleetArgs {
    /// The other machines, if there are any.
    pub(super) fn open(&self, rules: GameSettings, agents: &[AgentSpec]) -> Result<Option<Machines>, Failure> {
        let link = self.access.connect(self.fleet.as_deref(), "arena")?;
        Ok(link.map(|link| Machines { link, settings: MatchSettings { rules, agents: agents.to_vec() } }))
    }
}

/// The workers of a server.
pub(super) struct Machines {
    link: Link,
    settings: MatchSettings,
}

impl Machines {
    /// Plays the missing games.
    pub(super) fn play<G: CatalogGame>(
        &self,
        game: &G,
        tournament: &mut Tournament<'_, G>,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<(), Failure> {
        let Machines { link, settings } = self;
        let warn = |warning| eprintln!("warning: {warning}");
        Ok(play_matches(link, game, settings, tournament, stop, observer, warn)?)
    }
}
