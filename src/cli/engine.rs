//! `jarmo engine`

use std::io::{self, BufReader};

use super::{Failure, GameArgs};
use crate::engine;
use jarmo_core::numbers::SEED;
use jarmo_exact::agent::{AGENTS, AgentSpec, AlphaBetaSpec, TreeSpec};
use jarmo_exact::catalog::{CatalogGame, GameTask};

/// Play over standard input and output with the Universal Game Interface
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) game: GameArgs,
    /// The agent
    #[arg(long, value_name = "SPEC", help = format!(
        "The agent: {AGENTS} [default: alphabeta, or rollout in a game without an evaluation]"
    ))]
    agent: Option<AgentSpec>,
    /// Seed of all randomness
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = SEED.parser::<u64>())]
    seed: u64,
}

impl GameTask for &Args {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let default = match game.heuristic() {
            Some(_) => AgentSpec::AlphaBeta(AlphaBetaSpec::default()),
            None => AgentSpec::Rollout(TreeSpec::default()),
        };
        let agent = self.agent.as_ref().unwrap_or(&default);
        let input = BufReader::new(io::stdin());
        let played = engine::run(game, agent, self.seed, input, io::stdout());
        played.map_err(Failure::usage)??;
        Ok(())
    }
}
