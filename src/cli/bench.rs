//! `jarmo bench`

#[cfg(feature = "train")]
use std::path::PathBuf;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};

#[cfg(feature = "train")]
use super::config::ConfigArgs;
use super::{Failure, GameArgs, print, thread_pool};
use jarmo_core::net::{KernelKind, NetEvaluator, NetSettings, NetShape, Weights};
use jarmo_core::numbers::{BATCH, BUDGET, NumberRange, SEED, THREADS};
use jarmo_core::random::stream;
use jarmo_exact::agent::{AGENTS, Agent, AgentSpec, TreeAgent, TreeSettings, build};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
use jarmo_selfplay::bench::{env, net, search};

/// Measure how fast this machine is
#[derive(Subcommand)]
pub(super) enum Command {
    Env(EnvArgs),
    Search(SearchArgs),
    #[cfg(feature = "train")]
    Selfplay(SelfPlayArgs),
    Net(NetArgs),
}

/// Random legal play through the vectorised environment: mask, uniform choice, step, restart
#[derive(clap::Args)]
pub(super) struct EnvArgs {
    #[command(flatten)]
    game: GameArgs,
    /// Games in parallel
    #[arg(long, value_name = "N", default_value = "4096", value_parser = GAMES.parser::<usize>())]
    games: usize,
    /// Also write the features and the mask of every position
    #[arg(long)]
    observe: bool,
    /// Threads to spread the games over
    #[arg(long, value_name = "T", default_value = "1", value_parser = THREADS.parser::<usize>())]
    threads: usize,
    #[command(flatten)]
    run: RunArgs,
}

/// The features of this many games take gigabytes.
const GAMES: NumberRange<u64> = NumberRange::new(1, 1 << 22);

/// An agent playing against itself: simulations, root positions and evaluations per CPU second
#[derive(clap::Args)]
pub(super) struct SearchArgs {
    #[command(flatten)]
    game: GameArgs,
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

const TINY: NetSettings = NetSettings { width: 128, blocks: 1 };

/// Self-play as in training: games, positions, simulations and evaluations per second
///
/// The network has random weights, or those of --agent. A trained network searches more narrowly, so more
/// evaluations are cached.
#[cfg(feature = "train")]
#[derive(clap::Args)]
pub(super) struct SelfPlayArgs {
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

/// Networks on one core: positions per second with each kernel
#[derive(clap::Args)]
pub(super) struct NetArgs {
    #[command(flatten)]
    game: GameArgs,
    /// Width of a layer, a multiple of 32
    #[arg(long, value_name = "N", default_value = "512", value_parser = NetSettings::WIDTH.parser::<usize>())]
    width: usize,
    /// Residual blocks, one layer each
    #[arg(long, value_name = "N", default_value = "1", value_parser = NetSettings::BLOCKS.parser::<usize>())]
    blocks: usize,
    /// Measure only this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<KernelKind>,
    /// Positions per batch
    #[arg(long, value_name = "N", default_value = "256", value_parser = BATCH.parser::<usize>())]
    batch: usize,
    #[command(flatten)]
    run: RunArgs,
}

/// How long to measure, with which random numbers, and how to print it.
#[derive(clap::Args)]
struct RunArgs {
    /// Seconds per run; there are five
    #[arg(long, value_name = "S", default_value = "1", value_parser = super::seconds)]
    seconds: Duration,
    /// Seed of all randomness
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> Result<(), Failure> {
    match command {
        Command::Env(args) => args.game.open(games, None, &args),
        Command::Search(args) => args.game.open(games, None, &args),
        #[cfg(feature = "train")]
        Command::Selfplay(args) => {
            let config = args.config.resolve(games, None, &[])?;
            games.with_game(&config.game.name, &config.game.settings(), SelfPlayTask(&args, &config))?
        }
        Command::Net(args) => args.game.open(games, None, &args),
    }
}

fn random_weights<G: CatalogGame>(game: &G, size: NetSettings, seed: u64) -> Weights {
    Weights::random(size, NetShape::of(game), &mut stream(seed, 0))
}

impl GameTask for &EnvArgs {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let RunArgs { seconds, seed, json } = self.run;
        let pool = thread_pool(Some(self.threads))?;
        print(&pool.install(|| env(game, self.games, self.observe, seed, seconds)), json)
    }
}

impl GameTask for &SearchArgs {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let RunArgs { seconds, seed, json } = self.run;
        let (name, mut agent) = match self.net {
            Some(NetSize::Tiny) => {
                let evaluator = NetEvaluator::new(game.clone(), &random_weights(&game, TINY, seed));
                let agent: Box<dyn Agent<G>> =
                    Box::new(TreeAgent::new(game.clone(), evaluator, TreeSettings::default()));
                ("network of random weights".to_owned(), agent)
            }
            None => (self.agent.to_string(), build(game.clone(), &self.agent).map_err(Failure::usage)?),
        };
        print(&search(&game, name, agent.as_mut(), self.games, self.sims, seed, seconds), json)
    }
}

#[cfg(feature = "train")]
struct SelfPlayTask<'a>(&'a SelfPlayArgs, &'a jarmo_learn::config::Config);

#[cfg(feature = "train")]
impl GameTask for SelfPlayTask<'_> {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let SelfPlayTask(args, config) = self;
        let seed = config.run.seed;
        let weights = match &args.agent {
            Some(file) => jarmo_host::agent_file::load_for(file, &game)?.weights().clone(),
            None => random_weights(&game, config.net, seed),
        };
        let play = || jarmo_selfplay::bench::selfplay(&game, &config.selfplay, &weights, seed, args.seconds);
        print(&thread_pool(Some(args.threads))?.install(play), args.json)
    }
}

impl GameTask for &NetArgs {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let RunArgs { seconds, seed, json } = self.run;
        let kernels = self.kernel.map_or(KernelKind::ALL.to_vec(), |kernel| vec![kernel]);
        let size = NetSettings { width: self.width, blocks: self.blocks };
        size.validate().map_err(Failure::usage)?;
        print(&net(&game, size, &kernels, self.batch, seed, seconds), json)
    }
}
