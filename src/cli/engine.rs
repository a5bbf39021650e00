//! `jarmo engine`

use std::io::{self, BufReader};
use std::process::ExitCode;

use super::{CommandResult, Failure, GameArgs};
use jarmo::agent::{AGENTS, AgentSpec};
use jarmo::catalog::{CatalogGame, GameTask, with_game};
use jarmo::engine;
use jarmo::numbers::SEED;

/// Play over standard input and output with the Universal Game Interface
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    game: GameArgs,
    /// The agent
    #[arg(long, value_name = "SPEC", default_value = "alphabeta", help = agent_help())]
    agent: AgentSpec,
    /// Seed of all randomness
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = SEED.parser::<u64>())]
    seed: u64,
}

fn agent_help() -> String {
    format!("The agent: {AGENTS}")
}

pub(super) fn run(args: Args) -> CommandResult {
    with_game(
        &args.game.game,
        &args.game.settings(None),
        EngineTask(&args),
    )?
}

struct EngineTask<'a>(&'a Args);

impl GameTask for EngineTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let Args { agent, seed, .. } = self.0;
        let input = BufReader::new(io::stdin());
        engine::run(game, agent, *seed, input, io::stdout()).map_err(Failure::usage)??;
        Ok(ExitCode::SUCCESS)
    }
}
