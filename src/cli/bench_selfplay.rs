//! `jarmo bench selfplay`

use std::path::PathBuf;
use std::time::Duration;

use super::bench::report;
use super::config::ConfigArgs;
use super::{CommandResult, thread_pool};
use jarmo_core::net::{NetShape, Weights};
use jarmo_core::numbers::THREADS;
use jarmo_core::random::stream;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
use jarmo_host::agent_file;
use jarmo_learn::config::Config;
use jarmo_selfplay::bench::{SelfPlayWork, selfplay};

/// Self-play as in training: games, positions, simulations and evaluations per second
///
/// The network has random weights, or those of --agent. A trained network searches more narrowly, so more
/// evaluations are cached.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Play with this agent's network instead of random weights
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// Threads to spread the games over
    #[arg(long, value_name = "T", default_value = "1", value_parser = THREADS.parser::<usize>())]
    threads: usize,
    /// Seconds to play
    #[arg(long, value_name = "S", default_value = "5", value_parser = super::seconds)]
    seconds: Duration,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> CommandResult {
    let config = args.config.resolve(games, None, &[])?;
    let settings = config.game.settings();
    let task = SelfPlayTask { args: &args, config: &config };
    games.with_game(&config.game.name, &settings, task)?
}

struct SelfPlayTask<'a> {
    args: &'a Args,
    config: &'a Config,
}

impl GameTask for SelfPlayTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let SelfPlayTask { args, config } = self;
        let seed = config.run.seed;
        let weights = match &args.agent {
            Some(file) => {
                let file = agent_file::load_for(file, &game)?;
                file.weights().clone()
            }
            None => Weights::random(config.net, NetShape::of(&game), &mut stream(seed, 0)),
        };
        let work = SelfPlayWork { settings: config.selfplay, weights, seed, run_time: args.seconds };
        let pool = thread_pool(Some(args.threads))?;
        let speed = pool.install(|| selfplay(&game, work));
        report(&speed, args.json)
    }
}
