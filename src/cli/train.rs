//! `jarmo train` and `jarmo export`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::config::ConfigArgs;
use super::{CommandResult, Failure};
use crate::catalog::{CatalogGame, GameTask, with_game};
use crate::config::Config;
use crate::run::{Ended, Event, Metrics, RunFolder, export, run as run_training};

/// Between two lines while too few samples are there to learn from.
const PATIENCE: Duration = Duration::from_secs(2);

/// Learn a game from self-play alone: Ctrl-C stops it after the step under way, and it can be resumed
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// The folder of the run [default: the first free runs/GAME-N]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    run: Option<PathBuf>,
    /// Go on with the run in this folder, with its own settings
    #[arg(long, value_name = "DIR", conflicts_with_all = ["config", "set"])]
    resume: Option<PathBuf>,
    /// Stop after this many learning steps, instead of run.steps
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Stop after this many games, instead of run.games
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// Stop after this many minutes of the whole run, instead of run.minutes
    #[arg(long, value_name = "M")]
    minutes: Option<f64>,
    /// Stop after this many minutes of processor time, all threads together, instead of
    /// run.cpu_minutes
    #[arg(long, value_name = "M")]
    cpu_minutes: Option<f64>,
}

/// Copy an agent out of a run, as a file that plays
#[derive(clap::Args)]
pub(super) struct ExportArgs {
    /// The folder of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The step of the checkpoint [default: the newest]
    #[arg(long, value_name = "STEP")]
    checkpoint: Option<u64>,
    /// The agent file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run_export(args: ExportArgs) -> CommandResult {
    let step = export(&args.run, args.checkpoint, &args.out).map_err(Failure::new)?;
    writeln!(io::stdout(), "step {step}: {}", args.out.display())?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn run(args: Args) -> CommandResult {
    let (folder, mut config) = match &args.resume {
        Some(path) => RunFolder::open(path).map_err(Failure::new)?,
        None => {
            let config = args.config.resolve()?;
            let check = CheckGame(&config);
            with_game(&config.game.name, &config.game.settings(), check)??;
            let path = args.run.clone().unwrap_or_else(|| free(&config.game.name));
            (
                RunFolder::create(&path, &config).map_err(Failure::new)?,
                config,
            )
        }
    };
    config.run.steps = args.steps.unwrap_or(config.run.steps);
    config.run.games = args.games.unwrap_or(config.run.games);
    config.run.minutes = args.minutes.unwrap_or(config.run.minutes);
    config.run.cpu_minutes = args.cpu_minutes.unwrap_or(config.run.cpu_minutes);
    config.validate().map_err(Failure::usage)?;
    let stop = stop_on_interrupt()?;
    let task = TrainTask {
        config: &config,
        folder: &folder,
        stop: &stop,
    };
    with_game(&config.game.name, &config.game.settings(), task)?
}

/// The first folder name that is not taken.
fn free(game: &str) -> PathBuf {
    (1..)
        .map(|number| Path::new("runs").join(format!("{game}-{number}")))
        .find(|path| !path.exists())
        .expect("there are more numbers than folders")
}

/// The first interrupt asks the run to stop; the second one ends the program at once.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    const INTERRUPTED: i32 = 130;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Refuses settings that do not fit the game, before anything is written.
struct CheckGame<'a>(&'a Config);

impl GameTask for CheckGame<'_> {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let tables = self.0.selfplay.open_tables(&game);
        tables.map(|_| ()).map_err(Failure::usage)
    }
}

struct TrainTask<'a> {
    config: &'a Config,
    folder: &'a RunFolder,
    stop: &'a AtomicBool,
}

impl GameTask for TrainTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let mut out = io::stdout().lock();
        let folder = self.folder.name();
        let config = self.config;
        writeln!(
            out,
            "{}: {} in {folder}, on {} core(s); Ctrl-C stops, --resume {folder} goes on",
            config.game.name,
            config.net,
            std::thread::available_parallelism().map_or(1, |cores| cores.get()),
        )?;
        // A reader that went away must not end the run: nothing is lost but its lines.
        let mut told = Instant::now();
        let ended = run_training(game, config, self.folder, self.stop, |event| {
            let _ = match event {
                Event::Warning(warning) => writeln!(out, "warning: {warning}"),
                Event::Gathering(..) if told.elapsed() < PATIENCE => Ok(()),
                Event::Gathering(samples, metrics) => {
                    told = Instant::now();
                    let first = config.run.first_samples;
                    writeln!(
                        out,
                        "gathering: {samples} of {first} samples, {}",
                        speed(metrics)
                    )
                }
                Event::Metrics(metrics) => writeln!(out, "{}", line(metrics)),
                Event::Checkpoint(step, path) => {
                    writeln!(out, "step {step}: checkpoint {}", path.display())
                }
            };
        })
        .map_err(Failure::new)?;
        if ended == Ended::Stopped {
            writeln!(out, "stopped; {}", self.folder.how_to_resume())?;
        }
        if let Some(agent) = self.folder.newest_agent() {
            let agent = agent.display();
            let game = &config.game.name;
            writeln!(
                out,
                "evaluate it: jarmo arena '{agent}?sims=64' rollout:1000 --game {game}"
            )?;
            writeln!(out, "look into it: jarmo inspect {agent} --position start")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn speed(metrics: &Metrics) -> String {
    let timing = &metrics.timing;
    format!(
        "{:.0} games/s, {:.0} positions/s, {:.0} evaluations/s",
        timing.games_per_s, timing.positions_per_s, timing.evaluations_per_s
    )
}

fn line(metrics: &Metrics) -> String {
    format!(
        "step {}: loss {:.3} (policy {:.3}, result {:.3}, score {:.3}), {} games, white {:.0} %, \
         black {:.0} %, {:.1} plies, replay {:.0} %, {}, {:.0} s",
        metrics.step,
        metrics.loss,
        metrics.loss_policy,
        metrics.loss_result,
        metrics.loss_score,
        metrics.games,
        100.0 * metrics.white,
        100.0 * metrics.black,
        metrics.plies,
        100.0 * metrics.replay_fill,
        speed(metrics),
        metrics.timing.seconds
    )
}
