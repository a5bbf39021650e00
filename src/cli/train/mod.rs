//! `jarmo train` and `jarmo export`

#[cfg(feature = "fleet")]
mod fleet;
mod view;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use self::view::Printer;
use super::config::{ConfigArgs, NewRun};
use super::device::DeviceArgs;
use super::interrupt::{INTERRUPTED, stop_on_interrupt};
use super::{Failure, check_output, in_file};
use jarmo_core::numbers::{CPU_MINUTES, MINUTES, STEPS};
use jarmo_exact::catalog::GAMES;
use jarmo_facade::Games;
use jarmo_host::files::{SETTINGS_BYTES, read_text};
use jarmo_host::program::{command, command_of, quoted};
use jarmo_host::{agent_file, run_folder};
use jarmo_judge::arena::read_results;
use jarmo_learn::config::Config;
use jarmo_learn::observe::{Event, Facts, RunView};
use jarmo_learn::run::{self, Ended, RunFolder, check_network, newest_agent};
use jarmo_learn::train::DeviceKind;

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
    /// Start from the weights of this agent file instead of random ones, or of `trained`, the agent in this program. A
    /// larger network (--set net.width=384) starts with the same outputs
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    from: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    fleet: fleet::FleetArgs,
    #[command(flatten)]
    limits: Limits,
}

#[derive(clap::Args)]
struct Limits {
    /// Stop after this many training steps; 0 for no limit. Sets run.steps of a new run. With --resume it replaces this
    /// limit of the run for this call only; the run's other limits stay unless they are given, too
    #[arg(long, value_name = "N", value_parser = STEPS.parser::<u64>())]
    steps: Option<u64>,
    /// Stop after this many games; 0 for no limit. Sets run.games
    #[arg(long, value_name = "N", value_parser = STEPS.parser::<u64>())]
    games: Option<u64>,
    /// Stop after this many minutes of the whole run; 0 for no limit. Sets run.minutes
    #[arg(long, value_name = "M", value_parser = MINUTES.parser::<f64>())]
    minutes: Option<f64>,
    /// Stop after this many minutes of CPU time, all threads together; 0 for no limit. Sets run.cpu_minutes
    #[arg(long, value_name = "M", value_parser = CPU_MINUTES.parser::<f64>())]
    cpu_minutes: Option<f64>,
}

impl Args {
    /// The options that a command to resume the run must repeat, because the folder does not keep them.
    fn to_repeat(&self) -> String {
        let mut text = String::new();
        if self.resume.is_some() {
            for (name, limit) in self.limits.given() {
                let _ = write!(text, " --{} {limit}", name.replace('_', "-"));
            }
        }
        if self.device.kind != DeviceKind::Cpu {
            let _ = write!(text, " --device {}", self.device.kind);
            text.push_str(if self.device.half { " --half" } else { "" });
        }
        #[cfg(feature = "fleet")]
        text.push_str(&self.fleet.to_repeat());
        text
    }
}

impl Limits {
    /// As settings `KEY=VALUE`.
    fn settings(&self) -> Vec<String> {
        self.given().map(|(name, limit)| format!("run.{name}={limit}")).collect()
    }

    /// The limits that are given.
    fn given(&self) -> impl Iterator<Item = (&'static str, String)> {
        let [steps, games] = [self.steps, self.games].map(|limit| limit.map(|limit| limit.to_string()));
        let [minutes, cpu_minutes] =
            [self.minutes, self.cpu_minutes].map(|limit| limit.map(|limit| format!("{limit:?}")));
        let limits = [("steps", steps), ("games", games), ("minutes", minutes), ("cpu_minutes", cpu_minutes)];
        limits.into_iter().filter_map(|(name, limit)| Some((name, limit?)))
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
    check_output(Some(&args.out))?;
    if args.out.extension().is_none_or(|ending| ending != "safetensors") {
        return Err(Failure::usage("--out: the name of an agent file ends in .safetensors"));
    }
    let mut agent = match args.checkpoint {
        None => agent_file::load(&args.run)?,
        Some(_) if args.run.is_file() => {
            return Err(Failure::usage("--checkpoint needs the folder of a run, not an agent file"));
        }
        step => {
            let found = run_folder::checkpoint_at(&args.run, step);
            agent_file::load(&found.map_err(|error| in_file(&args.run, error))?.1)?
        }
    };
    let mut results = Vec::new();
    for path in &args.results {
        let text = read_text(path, SETTINGS_BYTES).map_err(|error| in_file(path, error))?;
        let (game, step) = (&agent.header().version.game, agent.header().provenance.step);
        results.extend(read_results(&text, game, step).map_err(|error| in_file(path, error))?);
    }
    if !results.is_empty() {
        agent = agent.with_results(results);
    }
    agent_file::save(&agent, &args.out)?;
    let step = agent.header().provenance.step;
    Ok(writeln!(io::stdout(), "step {step}: {}", args.out.display())?)
}

pub(super) fn run(games: &Games, args: Args) -> Result<(), Failure> {
    let device = args.device.open()?;
    // The connection is made before anything is written.
    #[cfg(feature = "fleet")]
    let link = args.fleet.access.connect(args.fleet.fleet.as_deref(), "learner")?;
    let limits = args.limits.settings();
    let (folder, config) = match &args.resume {
        Some(path) => resumed(path, &limits)?,
        None => created(games, &args)?,
    };
    let stop = stop_on_interrupt()?;
    let resume = resume_command(folder.path()) + &args.to_repeat();
    // A new run was checked before. A resumed one has its game from its own settings.
    let game = games.open(&config.game.name, &config.game.settings());
    let game = game.map_err(|error| Failure::new(format!("{}/config.toml: {error}", folder.name())))?;
    #[cfg(feature = "fleet")]
    let supply = link.map(|link| fleet::open(link, game.as_ref(), &config, &folder, &resume)).transpose()?;
    #[cfg(feature = "fleet")]
    let fleet = supply.as_ref().map(|supply| run::Fleet { supply, plays_here: !args.fleet.no_play });
    #[cfg(not(feature = "fleet"))]
    let fleet = None;
    let facts = Facts::of(game.as_ref(), &config, folder.name(), device.kind());
    let mut printer = Printer::new(RunView::new(&config, facts), &stop, resume.clone());
    let _ = printer.begin();
    let mut has_played = false;
    let tell = |event: Event<'_>| {
        has_played |= matches!(event, Event::Played(..) | Event::Strength(_));
        printer.event(&event);
    };
    let ended = run::run(game.as_ref(), &config, &folder, &device, fleet, &stop, tell);
    printer.end();
    let path = folder.path();
    let ended = ended.map_err(|error| Failure::new(format!("{error}{}", ways_on(path, &resume))))?;
    let mut out = io::stdout().lock();
    if ended == Ended::Stopped {
        writeln!(out, "stopped; continue with: {resume}")?;
    } else if !has_played {
        let limits = config.run.limits();
        let which = if limits.len() == 1 { "its limit" } else { "one of its limits" };
        let [limits, higher]: [Vec<String>; 2] = [
            limits.iter().map(|(n, what)| format!("--{what} {n}")).collect(),
            limits.iter().map(|(_, what)| format!("--{what} N")).collect(),
        ];
        let (resume, limits, higher) = (resume_command(path), limits.join(" "), higher.join(" "));
        writeln!(
            out,
            "nothing to do: the run has reached {which} ({limits}); give it a higher one, or 0 for none, with: \
             {resume} {higher}"
        )?;
    }
    if let Some(agent) = newest_agent(path) {
        let (program, game) = (command(), &config.game.name);
        let with_sims = quoted(Path::new(&format!("{}?sims=64", agent.display())));
        let agent = quoted(&agent);
        writeln!(out, "evaluate it: {program} arena {with_sims} rollout:1000 --game {game}")?;
        if config.net.is_mlp() && GAMES.contains(&game.as_str()) {
            writeln!(out, "play against it: {} --game {game} --opponent {agent}", command_of("play"))?;
        }
        writeln!(out, "inspect it: {program} inspect {agent} --position start")?;
    }
    #[cfg(feature = "fleet")]
    if args.fleet.fleet.is_some() {
        return Ok(()); // SIGTERM is the usual end of a service
    }
    if ended == Ended::Stopped { Err(Failure::Status(INTERRUPTED)) } else { Ok(()) }
}

/// A run that was stopped, with these limits, which its folder does not keep.
fn resumed(path: &Path, limits: &[String]) -> Result<(RunFolder, Config), Failure> {
    let (folder, config) = RunFolder::open(path)?;
    check_network(&config)?;
    let limited = config.with(limits).map_err(Failure::usage)?;
    Ok((folder, limited))
}

fn created(games: &Games, args: &Args) -> Result<(RunFolder, Config), Failure> {
    let NewRun { config, first } = args.config.plan(games, args.from.as_deref(), &args.limits.settings())?;
    let path = args.run.clone().unwrap_or_else(|| free(&config.game.name));
    let folder = RunFolder::create(&path, &config, first.as_ref());
    let folder = folder.map_err(|error| Failure::new(format!("{error}{}", ways_on(&path, &resume_command(&path)))))?;
    Ok((folder, config))
}

/// The commands that continue from a folder of a run: they resume it, or start from its newest agent.
fn ways_on(run: &Path, resume: &str) -> String {
    if !run.join("config.toml").exists() {
        return String::new();
    }
    let mut text = format!("\ncontinue with: {resume}");
    if let Some(agent) = newest_agent(run) {
        let game = agent_file::load(&agent).map(|file| format!(" --game {}", file.header().version.game));
        let (program, agent, game) = (command(), quoted(&agent), game.unwrap_or_default());
        let _ = write!(text, "\nstart from its newest agent with: {program} train{game} --from {agent}");
    }
    text
}

/// The command that continues a run.
fn resume_command(run: &Path) -> String {
    format!("{} train --resume {}", command(), quoted(run))
}

fn free(game: &str) -> PathBuf {
    (1..)
        .map(|number| Path::new("runs").join(format!("{game}-{number}")))
        .find(|path| !path.exists())
        .expect("there are more numbers than folders")
}
