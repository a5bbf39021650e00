//! `jarmo bench`

use std::fmt::Display;
#[cfg(feature = "train")]
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use super::block::Progress;
#[cfg(feature = "train")]
use super::config::ConfigArgs;
#[cfg(feature = "train")]
use super::device::DeviceArgs;
use super::interrupt::{interrupted, stop_on_interrupt};
use super::{Failure, GameArgs, print, thread_pool};
use jarmo_core::net::{FrozenNet, KernelKind, NetKind, NetSettings, Weights};
use jarmo_core::numbers::{BATCH, BUDGET, NumberRange, SEED, THREADS};
use jarmo_core::random::stream;
use jarmo_core::search::Root;
use jarmo_exact::agent::{AGENTS, AgentSource, AgentSpec, Networks, TreeSpec, YesNo, read_spec};
use jarmo_facade::{AgentPlan, AnyGame, Games};
#[cfg(feature = "train")]
use jarmo_learn::train::DeviceKind;
use jarmo_selfplay::bench::RunTime;

/// Measure how fast this machine is
#[derive(Subcommand)]
pub(super) enum Command {
    Env(EnvArgs),
    Search(SearchArgs),
    #[cfg(feature = "train")]
    Selfplay(SelfPlayArgs),
    Net(NetArgs),
}

/// Random play in many environments at a time: mask, uniform choice, step, restart
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

/// An agent playing against itself: simulations, root positions and evaluations per second of CPU time
#[derive(clap::Args)]
pub(super) struct SearchArgs {
    #[command(flatten)]
    game: GameArgs,
    /// The agent
    #[arg(long, value_name = "SPEC", default_value = "uniform:32", value_parser = read_spec)]
    #[arg(help = format!("The agent: {AGENTS}"))]
    agent: AgentSpec,
    /// Use a network with random weights instead of an agent; `tiny` has width 128 and one block
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
    #[command(flatten)]
    device: DeviceArgs,
    /// Seconds to play
    #[arg(long, value_name = "S", default_value = "5", value_parser = super::seconds)]
    seconds: Duration,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Networks: positions per second with each kernel on one core, or on a device
#[derive(clap::Args)]
pub(super) struct NetArgs {
    #[command(flatten)]
    game: GameArgs,
    /// The network: the tower is for a GPU
    #[cfg(feature = "train")]
    #[arg(long, default_value = "mlp", value_parser = NetKind::BUILT_IN)]
    kind: String,
    /// Width of a layer (tower: numbers per cell), a multiple of 32
    #[arg(long, value_name = "N", default_value = "512", value_parser = NetSettings::WIDTH.parser::<usize>())]
    width: usize,
    /// Residual blocks
    #[arg(long, value_name = "N", default_value = "1", value_parser = NetSettings::BLOCKS.parser::<usize>())]
    blocks: usize,
    /// Measure only this kernel
    #[arg(long, value_name = "NAME")]
    #[cfg_attr(feature = "train", arg(conflicts_with = "device"))]
    kernel: Option<KernelKind>,
    #[cfg(feature = "train")]
    #[command(flatten)]
    device: DeviceArgs,
    /// Positions per batch
    #[arg(long, value_name = "N", default_value = "256", value_parser = BATCH.parser::<usize>())]
    batch: usize,
    #[command(flatten)]
    run: RunArgs,
}

impl NetArgs {
    /// The network that is measured.
    fn kind(&self, game: &dyn AnyGame) -> Result<NetKind, Failure> {
        let size = NetSettings { width: self.width, blocks: self.blocks };
        size.validate().map_err(Failure::usage)?;
        #[cfg(feature = "train")]
        let name = self.kind.as_str();
        #[cfg(not(feature = "train"))]
        let name = "mlp";
        let (rows, columns) = game.facts().grid;
        Ok(NetKind::named(name, size, rows * columns))
    }

    /// The network on the device, or with each kernel of this CPU that it has.
    fn nets(&self, weights: &Weights) -> Result<Vec<(String, FrozenNet)>, Failure> {
        #[cfg(feature = "train")]
        if self.device.kind != DeviceKind::Cpu {
            return Ok(vec![self.device.net(weights)?]);
        }
        let mut kernels = match weights.net() {
            NetKind::BuiltIn(_) => KernelKind::ALL.to_vec(),
            _ => vec![KernelKind::Portable],
        };
        if let Some(kernel) = self.kernel {
            if !kernels.contains(&kernel) {
                return Err(Failure::usage(format!("--kernel {kernel}: a tower has only portable")));
            }
            kernels = vec![kernel];
        }
        let net = |kernel: KernelKind| (kernel.to_string(), FrozenNet::with_kernel(weights, kernel));
        Ok(kernels.into_iter().map(net).collect())
    }
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

pub(super) fn run(games: &Games, command: Command) -> Result<(), Failure> {
    match command {
        Command::Env(args) => {
            let game = args.game.open(games, None)?;
            let RunArgs { seconds, seed, json } = args.run;
            let pool = thread_pool(Some(args.threads))?;
            measured(seconds, json, |time| Ok(pool.install(|| game.bench_env(args.games, args.observe, seed, time))))
        }
        Command::Search(args) => {
            let game = args.game.open(games, None)?;
            let RunArgs { seconds, seed, json } = args.run;
            let (name, agent) = match args.net {
                Some(NetSize::Tiny) => ("network of random weights".to_owned(), tiny(game.as_ref(), seed)),
                None => (args.agent.to_string(), AgentPlan::new(args.agent, &Networks::new())),
            };
            measured(seconds, json, |time| Ok(game.bench_search(name, &agent, args.games, args.sims, seed, time)?))
        }
        #[cfg(feature = "train")]
        Command::Selfplay(args) => {
            let config = args.config.resolve(games)?;
            let game = games.open(&config.game.name, &config.game.settings())?;
            let seed = config.run.seed;
            let weights = match args.agent {
                Some(file) => game.load(&AgentSource::File(file))?.weights().clone(),
                None => random_weights(game.as_ref(), config.net.of(game.as_ref()), seed),
            };
            let net = args.device.net(&weights)?;
            let pool = thread_pool(Some(args.threads))?;
            measured(args.seconds, args.json, |time| {
                Ok(pool.install(|| game.bench_self_play(&config.selfplay, &weights, net, seed, time)))
            })
        }
        Command::Net(args) => {
            let game = args.game.open(games, None)?;
            let RunArgs { seconds, seed, json } = args.run;
            let weights = random_weights(game.as_ref(), args.kind(game.as_ref())?, seed);
            let nets = args.nets(&weights)?;
            measured(seconds, json, |time| Ok(game.bench_net(&weights, nets, args.batch, seed, time)))
        }
    }
}

/// Measures with runs of this time and prints the result, which is that of the time so far after Ctrl-C.
fn measured<T: Serialize + Display>(
    time: Duration,
    json: bool,
    measure: impl FnOnce(RunTime<'_>) -> Result<T, Failure>,
) -> Result<(), Failure> {
    let stop = stop_on_interrupt()?;
    let progress = Progress::new();
    let watch = |share: f64| {
        progress.show(share, || "measuring".to_owned());
        !stop.load(Ordering::Relaxed)
    };
    let result = measure(RunTime::watched(time, &watch))?;
    progress.clear();
    print(&result, json)?;
    interrupted(&stop, "the result covers the time so far")
}

pub(super) fn random_weights(game: &dyn AnyGame, net: impl Into<NetKind>, seed: u64) -> Weights {
    Weights::random(net, game.facts().version.shape, &mut stream(seed, 0))
}

/// A search with a network of random weights.
fn tiny(game: &dyn AnyGame, seed: u64) -> AgentPlan {
    let net = FrozenNet::new(&random_weights(game, TINY, seed));
    let settings = TreeSpec { root: Some(Root::Gumbel), keep: Some(YesNo::No), ..TreeSpec::default() };
    AgentPlan::given(AgentSpec::Network(AgentSource::Program, settings), Some(net))
}
