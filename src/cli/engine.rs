//! `jarmo engine`

use std::io::{self, BufReader};

use super::{Failure, GameArgs};
use crate::engine;
use jarmo_core::numbers::SEED;
use jarmo_exact::agent::{AGENTS, AgentSpec, AlphaBetaSpec, TreeSpec, read_spec};
use jarmo_facade::Games;

/// Play over standard input and output with the Universal Game Interface
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) game: GameArgs,
    /// The agent
    #[arg(long, value_name = "SPEC", value_parser = read_spec, help = format!(
        "The agent: {AGENTS} [default: alphabeta, or rollout in a game without an evaluation]"
    ))]
    agent: Option<AgentSpec>,
    /// Seed of all randomness
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = SEED.parser::<u64>())]
    seed: u64,
}

pub(super) fn run(games: &Games, args: &Args) -> Result<(), Failure> {
    let game = args.game.open(games, None)?;
    let default = match game.facts().has_heuristic {
        true => AgentSpec::AlphaBeta(AlphaBetaSpec::default()),
        false => AgentSpec::Rollout(TreeSpec::default()),
    };
    let agent = args.agent.as_ref().unwrap_or(&default);
    engine::run(game.as_ref(), agent, args.seed, BufReader::new(io::stdin()), io::stdout())??;
    Ok(())
}
