//! `jarmo bench selfplay`

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use super::bench::report;
use super::net_args::NetArgs;
use super::{CommandResult, Failure, GameArgs};
use crate::catalog::{CatalogGame, GameTask, with_game};
use crate::net::{AgentFile, NetShape, Weights};
use crate::random::stream;
use crate::selfplay::{Root, SelfPlaySettings, SelfPlayWork, measure};

/// Self-play: games, positions, simulations, evaluations a second
///
/// With a network of random weights, or with one that has learned: its searches are narrower, and more of
/// what they ask for is remembered.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    net: NetArgs,
    /// Play with this agent's network in place of one with random weights
    #[arg(long, value_name = "FILE", conflicts_with_all = ["net", "width", "blocks", "head_channels"])]
    agent: Option<PathBuf>,
    /// Games under way at the same time, over all threads
    #[arg(long, value_name = "N", default_value = "1024")]
    games: usize,
    /// Simulations for each action
    #[arg(long, value_name = "N", default_value = "32")]
    sims: u32,
    /// How the simulations are shared out
    #[arg(long, value_name = "ROOT", default_value = "gumbel")]
    root: RootArg,
    /// Actions among which a gumbel root shares them out at first
    #[arg(long, value_name = "N", default_value = "16")]
    considered: u32,
    /// The most random actions that a game starts with
    #[arg(long, value_name = "N", default_value = "4")]
    opening_plies: u32,
    /// A directory of exact tables, which tell games their results
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// End games at the positions of the tables
    #[arg(long, requires = "tables")]
    tables_end: bool,
    /// The share of games that start from a random endgame, in jarmo
    #[arg(long, value_name = "SHARE", default_value = "0")]
    endgames: f32,
    /// The most archers and marks of such an endgame
    #[arg(long, value_name = "FORCE", default_value = "7")]
    endgame_force: u32,
    /// Threads, each with games of its own
    #[arg(long, value_name = "T", default_value = "1")]
    threads: NonZeroUsize,
    /// Seconds to play
    #[arg(long, value_name = "S", default_value = "5", value_parser = super::seconds)]
    seconds: Duration,
    /// The seed of weights and games
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum RootArg {
    /// The improved policy, with Gumbel noise
    Gumbel,
    /// AlphaZero's rule, with Dirichlet noise
    Puct,
}

pub(super) fn run(args: Args) -> CommandResult {
    with_game(
        &args.game.game,
        &args.game.settings(None),
        SelfPlayTask(&args),
    )?
}

struct SelfPlayTask<'a>(&'a Args);

impl SelfPlayTask<'_> {
    fn weights<G: CatalogGame>(&self, game: &G) -> Result<Weights, Failure> {
        let Args {
            agent, net, seed, ..
        } = self.0;
        match agent {
            Some(file) => {
                let file = AgentFile::load_for(file, game).map_err(Failure::new)?;
                Ok(file.weights().clone())
            }
            None => {
                let shape = NetShape::of(game);
                Ok(Weights::random(net.config()?, shape, &mut stream(*seed, 0)))
            }
        }
    }
}

impl GameTask for SelfPlayTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let args = self.0;
        let settings = SelfPlaySettings {
            games: args.games,
            simulations: args.sims,
            root: match args.root {
                RootArg::Gumbel => Root::Gumbel,
                RootArg::Puct => Root::Puct,
            },
            considered: args.considered,
            opening_plies: args.opening_plies,
            tables: args.tables.clone().unwrap_or_default(),
            tables_end: args.tables_end,
            endgames: args.endgames,
            endgame_force: args.endgame_force,
            least_range: 0.0,
            point: 0.0,
            lambda: 1.0,
        };
        settings.validate().map_err(Failure::usage)?;
        let work = SelfPlayWork {
            settings,
            weights: self.weights(&game)?,
            seed: args.seed,
            run_time: args.seconds,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(args.threads.get())
            .build()
            .map_err(|error| Failure::new(format!("--threads {}: {error}", args.threads)))?;
        let speed = pool.install(|| measure(&game, work));
        report(&speed.map_err(Failure::usage)?, args.json)
    }
}
