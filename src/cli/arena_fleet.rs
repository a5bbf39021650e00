//! The machines of `jarmo arena --fleet`.

use std::sync::atomic::AtomicBool;

use super::Failure;
use super::fleet::AddressArgs;
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
    address: AddressArgs,
}

impl FleetArgs {
    /// Whether other machines are to play.
    pub(super) fn is_given(&self) -> bool {
        self.fleet.is_some() || self.address.is_given()
    }

    /// The other machines.
    pub(super) fn open(
        &self,
        rules: GameSettings,
        agents: Vec<AgentSpec>,
    ) -> Result<Machines, Failure> {
        let Some(url) = &self.fleet else {
            return Err(Failure::usage("--key and --authority need --fleet"));
        };
        let link = Link::open(&self.address.at(url), "arena")?;
        Ok(Machines {
            link,
            rules,
            agents,
        })
    }
}

/// The workers of a server.
pub(super) struct Machines {
    link: Link,
    rules: GameSettings,
    agents: Vec<AgentSpec>,
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
        let settings = MatchSettings {
            rules: &self.rules,
            agents: &self.agents,
        };
        let warn = |warning| eprintln!("warning: {warning}");
        Ok(play_matches(
            &self.link, game, &settings, tournament, stop, observer, warn,
        )?)
    }
}
