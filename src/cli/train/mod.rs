//! `jarmo train` and `jarmo export`

#[cfg(feature = "fleet")]
mod fleet;
mod view;

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use self::view::Printer;
use super::config::ConfigArgs;
use super::interrupt::stop_on_interrupt;
use super::{Failure, in_file};
use jarmo_core::net::{AgentFile, KernelKind, NetKind, NetShape};
use jarmo_core::numbers::{CPU_MINUTES, MINUTES, STEPS};
use jarmo_exact::catalog::{Catalog, CatalogGame, GAMES, GameTask};
use jarmo_host::agent_file;
use jarmo_host::files::{SETTINGS_BYTES, read_text};
use jarmo_host::program::{self, cores};
use jarmo_judge::arena::read_results;
use jarmo_learn::config::Config;
use jarmo_learn::observe::{Event, Facts, RunView};
use jarmo_learn::run::{self, Ended, RunFolder, check, check_network, checkpoint, newest_agent};
use jarmo_learn::train::{DeviceKind, OpenDevice};

/// Train a network by self-play. Ctrl-C saves and stops; a stopped run can be resumed
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// The folder of the run [default: the first free runs/GAME-N]
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    run: Option<PathBuf>,
    /// Continue the run in this folder, with its own settings
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["game", "config", "set"])]
    resume: Option<PathBuf>,
    /// Start from the weights of this agent instead of random ones. The network has the agent's size, or
    /// grows to a larger one (--set net.width=384) with the same outputs at first
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    from: Option<PathBuf>,
    /// The device to learn and evaluate positions on: cpu, cuda, cuda:NUMBER or wgpu
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceKind,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    fleet: fleet::FleetArgs,
    #[command(flatten)]
    limits: Limits,
}

#[derive(clap::Args)]
struct Limits {
    /// Stop after this many learning steps; 0 for no limit. Sets run.steps
    #[arg(long, value_name = "N", value_parser = STEPS.parser::<u64>())]
    steps: Option<u64>,
    /// Stop after this many games; 0 for no limit. Sets run.games
    #[arg(long, value_name = "N", value_parser = STEPS.parser::<u64>())]
    games: Option<u64>,
    /// Stop after this many minutes of the whole run; 0 for no limit. Sets run.minutes
    #[arg(long, value_name = "M", value_parser = MINUTES.parser::<f64>())]
    minutes: Option<f64>,
    /// Stop after this many minutes of processor time, all threads together; 0 for no limit. Sets run.cpu_minutes
    #[arg(long, value_name = "M", value_parser = CPU_MINUTES.parser::<f64>())]
    cpu_minutes: Option<f64>,
}

impl Limits {
    /// As settings `KEY=VALUE`.
    fn settings(&self) -> Vec<String> {
        let [steps, games] = [self.steps, self.games].map(|limit| limit.map(|limit| limit.to_string()));
        let [minutes, cpu_minutes] =
            [self.minutes, self.cpu_minutes].map(|limit| limit.map(|limit| format!("{limit:?}")));
        let limits = [("steps", steps), ("games", games), ("minutes", minutes), ("cpu_minutes", cpu_minutes)];
        limits.into_iter().filter_map(|(name, limit)| Some(format!("run.{name}={}", limit?))).collect()
    }
}

/// Copy an agent from a run to a file
#[derive(clap::Args)]
pub(super) struct ExportArgs {
    /// The folder of the run, or an agent file
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The step of the checkpoint [default: the newest]
    #[arg(long, value_name = "STEP", value_parser = STEPS.parser::<u64>())]
    checkpoint: Option<u64>,
    /// Replace the results in the header with those of the first agent in this file, an output of `jarmo
    /// arena AGENT … --gauntlet --json`; may be repeated
    #[arg(long, value_name = "FILE")]
    results: Vec<PathBuf>,
    /// The agent file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run_export(args: ExportArgs) -> Result<(), Failure> {
    let mut agent = if args.run.exists() && !args.run.is_dir() {
        if args.checkpoint.is_some() {
            return Err(Failure::usage("--checkpoint needs the folder of a run, not an agent file"));
        }
        agent_file::load(&args.run)?
    } else {
        checkpoint(&args.run, args.checkpoint)?
    };
    let mut results = Vec::new();
    for path in &args.results {
        let text = read_text(path, SETTINGS_BYTES).map_err(|error| in_file(path, error))?;
        results.extend(read_results(&text).map_err(|error| in_file(path, error))?);
    }
    if !results.is_empty() {
        agent = agent.with_results(results);
    }
    agent_file::save(&agent, &args.out)?;
    let step = agent.header().provenance.step;
    Ok(writeln!(io::stdout(), "step {step}: {}", args.out.display())?)
}

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> Result<(), Failure> {
    let device = open_device(args.device)?;
    // The connection is made before anything is written.
    #[cfg(feature = "fleet")]
    let link = args.fleet.access.connect(args.fleet.fleet.as_deref(), "learner")?;
    let (folder, config) = match &args.resume {
        Some(path) => resumed(path, &args.limits.settings())?,
        None => created(games, &args)?,
    };
    let stop = stop_on_interrupt()?;
    let task = TrainTask {
        config: &config,
        folder: &folder,
        device: &device,
        stop: &stop,
        #[cfg(feature = "fleet")]
        fleet: (&args.fleet, link),
    };
    // A new run was checked before. A resumed one has its game from its own settings.
    let ended = games.with_game(&config.game.name, &config.game.settings(), task);
    ended.map_err(|error| Failure::new(format!("{}/config.toml: {error}", folder.name())))?
}

pub(super) fn open_device(kind: DeviceKind) -> Result<OpenDevice, Failure> {
    OpenDevice::open(kind).map_err(|error| Failure::new(format!("--device {error}")))
}

/// A run that was stopped, with these limits.
fn resumed(path: &Path, limits: &[String]) -> Result<(RunFolder, Config), Failure> {
    let (mut folder, config) = RunFolder::open(path)?;
    check_network(&config)?;
    let limited = config.with(limits).map_err(Failure::usage)?;
    if limited != config {
        folder.change(&limited)?;
    }
    Ok((folder, limited))
}

fn created<C: Catalog>(games: &C, args: &Args) -> Result<(RunFolder, Config), Failure> {
    let first = args.from.as_deref().map(agent_file::load).transpose()?;
    let net = first.as_ref().and_then(|agent| match agent.header().net {
        NetKind::BuiltIn(size) => Some(size),
        NetKind::Own { .. } => None,
    });
    let config = args.config.resolve(games, net, &args.limits.settings())?;
    let check = CheckGame(&config, first.as_ref(), &args.config);
    let checked = games.with_game(&config.game.name, &config.game.settings(), check);
    // The name was checked with the settings, so the board is wrong.
    checked.map_err(|error| Failure::usage(format!("game.board: {error}")))??;
    let path = args.run.clone().unwrap_or_else(|| free(&config.game.name));
    let folder = RunFolder::create(&path, &config, first.as_ref());
    let folder = folder.map_err(|error| Failure::new(format!("{error}{}", ways_on(&path))))?;
    Ok((folder, config))
}

/// The commands that go on from a folder of a run: they resume it, or start from its newest agent.
fn ways_on(run: &Path) -> String {
    if !run.join("config.toml").exists() {
        return String::new();
    }
    let mut text = format!("\n{}", how_to_resume(run));
    if let Some(agent) = newest_agent(run) {
        let (program, agent) = (program::name(), agent.display());
        let _ = write!(text, "\nstart from its newest agent with: {program} train --from {agent}");
    }
    text
}

fn how_to_resume(run: &Path) -> String {
    let (program, run) = (program::name(), run.display());
    format!("continue with: {program} train --resume {run}")
}

fn free(game: &str) -> PathBuf {
    (1..)
        .map(|number| Path::new("runs").join(format!("{game}-{number}")))
        .find(|path| !path.exists())
        .expect("there are more numbers than folders")
}

/// Refuses settings that do not fit the game, or an agent for another game, before anything is written.
struct CheckGame<'a>(&'a Config, Option<&'a AgentFile>, &'a ConfigArgs);

impl GameTask for CheckGame<'_> {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        check(&game, self.0).map_err(|error| self.2.in_file(error))?;
        let Some(agent) = self.1 else { return Ok(()) };
        let wrong = |error: &dyn Display| Failure::usage(format!("--from: {error}"));
        let fits = agent.clone().for_game(&game);
        fits.map_err(|error| wrong(&error))?;
        match (&agent.header().net, self.0.net_kind()) {
            (NetKind::BuiltIn(from), NetKind::BuiltIn(size)) => size.check_growth(*from).map_err(|error| wrong(&error)),
            (from, wanted) if *from == wanted => Ok(()),
            (from, wanted) => Err(wrong(&format_args!("its network is {from}, the settings ask for {wanted}"))),
        }
    }
}

struct TrainTask<'a> {
    config: &'a Config,
    folder: &'a RunFolder,
    device: &'a OpenDevice,
    stop: &'a AtomicBool,
    #[cfg(feature = "fleet")]
    fleet: (&'a fleet::FleetArgs, Option<jarmo_fleet::Link>),
}

impl GameTask for TrainTask<'_> {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let config = self.config;
        let facts = facts(&game, config, self.folder, self.device);
        #[cfg(feature = "fleet")]
        let (args, link) = self.fleet;
        #[cfg(feature = "fleet")]
        let supply = link.map(|link| fleet::open(link, &game, config, self.folder)).transpose()?;
        #[cfg(feature = "fleet")]
        let fleet = supply.as_ref().map(|supply| run::Fleet { supply, plays_here: !args.no_play });
        #[cfg(feature = "fleet")]
        let also = fleet.as_ref().map_or("", |_| fleet::AS_BEFORE);
        #[cfg(not(feature = "fleet"))]
        let (fleet, also) = (None, "");
        let mut printer = Printer::new(RunView::new(config, facts), self.stop);
        let _ = printer.begin();
        let (folder, device) = (self.folder, self.device);
        let mut has_played = false;
        let tell = |event: Event<'_>| {
            has_played |= matches!(event, Event::Played(..) | Event::Strength(_));
            printer.event(&event);
        };
        let ended = run::run(game, config, folder, device, fleet, self.stop, tell);
        printer.end();
        let path = folder.path();
        let ended = ended.map_err(|error| Failure::new(format!("{error}{}", ways_on(path))))?;
        let mut out = io::stdout().lock();
        if ended == Ended::Stopped {
            writeln!(out, "stopped; {}{also}", how_to_resume(path))?;
        } else if !has_played {
            let limits = config.run.limits();
            let limits: Vec<String> = limits.iter().map(|(n, what)| format!("--{what} {n}")).collect();
            let limits = limits.join(" ");
            writeln!(
                out,
                "nothing to do: the run has reached its limit ({limits}); give it a higher one, or 0 for none, with: \
                 {} train --resume {} --{} N",
                program::name(),
                path.display(),
                config.run.limits()[0].1,
            )?;
        }
        if let Some(agent) = newest_agent(path) {
            let agent = agent.display();
            let (program, game) = (program::name(), &config.game.name);
            writeln!(out, "evaluate it: {program} arena '{agent}?sims=64' rollout:1000 --game {game}")?;
            let is_built_in = matches!(config.net_kind(), NetKind::BuiltIn(_));
            if is_built_in && GAMES.contains(&game.as_str()) {
                writeln!(out, "play against it: play --game {game} --opponent {agent}")?;
            }
            writeln!(out, "inspect it: {program} inspect {agent} --position start")?;
        }
        Ok(())
    }
}

fn facts<G: CatalogGame>(game: &G, config: &Config, folder: &RunFolder, device: &OpenDevice) -> Facts {
    let (threads, cores) = (config.run.playing_threads(), cores());
    let network = match config.net_kind() {
        NetKind::BuiltIn(size) => {
            format!("{size} with {} weights", size.parameters(&NetShape::of(game)))
        }
        own @ NetKind::Own { .. } => format!("network {own}"),
    };
    let what = format!(
        "{}, {network}, {} games in parallel, {} simulations",
        config.game.name, config.selfplay.games, config.selfplay.simulations
    );
    let evaluates = match (device.kind(), config.net_kind()) {
        (DeviceKind::Cpu, NetKind::BuiltIn(_)) => config.run.kernel.unwrap_or_else(KernelKind::best).to_string(),
        (kind, _) => kind.to_string(),
    };
    Facts { what, device: format!("{threads} thread(s) on {cores} core(s), {evaluates}"), folder: folder.name() }
}
