//! `jarmo bench search`

use clap::ValueEnum;

use super::bench::{RunArgs, report};
use super::{CommandResult, Failure, GameArgs};
use jarmo_core::net::NetSettings;
use jarmo_core::numbers::{BATCH, BUDGET};
use jarmo_exact::agent::{AGENTS, AgentSpec, build, random_net_agent};
use jarmo_exact::catalog::{CatalogGame, GameTask};
use jarmo_selfplay::bench::{SearchWork, search};

/// An agent playing against itself: simulations, root positions and evaluations per CPU second
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub game: GameArgs,
    /// The agent
    #[arg(long, value_name = "SPEC", default_value = "uniform:32", help = format!("The agent: {AGENTS}"))]
    agent: AgentSpec,
    /// Use a network with random weights instead of an agent; tiny: width 128, one block
    #[arg(long, value_name = "SIZE", conflicts_with = "agent")]
    net: Option<NetSize>,
    /// Games in parallel
    #[arg(long, value_name = "N", default_value = "1", value_parser = BATCH.parser::<usize>())]
    games: usize,
    /// Simulations or nodes per decision; overrides the agent's own number
    #[arg(long, value_name = "S", value_parser = BUDGET.parser::<u64>())]
    sims: Option<u64>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum NetSize {
    Tiny,
}

impl NetSize {
    fn settings(self) -> NetSettings {
        match self {
            NetSize::Tiny => NetSettings { width: 128, blocks: 1 },
        }
    }
}

impl GameTask for &Args {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let mut agent = match self.net {
            Some(size) => random_net_agent(&game, size.settings(), self.run.seed),
            None => build(game.clone(), &self.agent).map_err(Failure::usage)?,
        };
        let work = SearchWork { games: self.games, nodes: self.sims, seed: self.run.seed, run_time: self.run.seconds };
        report(&search(&game, agent.as_mut(), work), self.run.json)
    }
}
