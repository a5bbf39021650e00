//! `jarmo sweep`

use std::env;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::interrupt::{INTERRUPTED, stop_or};
use super::runs::{compared_text, groups_table, runs_table};
use super::{Failure, in_file, write_output};
use jarmo_facade::Games;
use jarmo_host::files::{SETTINGS_BYTES, is_locked, lock_folder, read_text};
use jarmo_host::program::{command, quoted};
use jarmo_host::run_folder::CONFIG;
use jarmo_learn::compare::{Comparison, Member};
use jarmo_learn::run::{RunFolder, State, list, summary};
use jarmo_learn::sweep::{Planned, Sweep};

/// Train many runs that differ in some settings and in their seeds, and compare them
#[derive(clap::Args)]
#[command(after_help = "\
The file is TOML; examples/sweep.toml explains it. Each run has an ordinary folder below that of the sweep. Ctrl-C saves
and stops all of them; the same command continues them, even after a crash. To watch: jarmo runs FOLDER --watch.")]
pub(super) struct Args {
    /// The file that describes the sweep
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder of the sweep [default: runs/ and the name of the file]
    #[arg(long, value_name = "FOLDER")]
    run: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The copy of the sweep's file in its folder.
const COPY: &str = "sweep.toml";

/// How long runs have time to save after Ctrl-C before they are killed, which costs what they did since their checkpoints.
const PATIENCE: Duration = Duration::from_secs(30);

const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(super) fn run(games: &Games, args: &Args) -> Result<(), Failure> {
    let (sweep, text) = Sweep::read(&args.file).map_err(Failure::usage)?;
    let planned = sweep.plan(games).map_err(|error| Failure::usage(format!("{}: {error}", args.file.display())))?;
    let folder = args.run.clone().unwrap_or_else(|| Path::new("runs").join(args.file.file_stem().unwrap_or_default()));
    let wrong = |error| in_file(&folder, error);
    fs::create_dir_all(&folder).map_err(wrong)?;
    let _lock = lock_folder(&folder)
        .map_err(wrong)?
        .ok_or_else(|| in_file(&folder, "another process is running this sweep"))?;
    let copy = folder.join(COPY);
    match read_text(&copy, SETTINGS_BYTES) {
        Ok(known) if known == text => {}
        Ok(_) => {
            return Err(in_file(&copy, "it differs from the file of this sweep; choose another folder with --run"));
        }
        Err(_) => write_output(&copy, text)?,
    }
    let kill = Arc::new(AtomicBool::new(false));
    let again = Arc::clone(&kill);
    let stop = stop_or(move || {
        again.store(true, Ordering::Relaxed);
        thread::sleep(5 * LOOK_EVERY); // by then the runs are killed
        exit(i32::from(INTERRUPTED));
    })?;
    let mut program = env::current_exe()?; // now, because a build may replace it
    let is_python = program.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    if is_python && let Some(typed) = env::args_os().next() {
        program = typed.into(); // in a virtual environment a link, whose place leads to the packages
    }
    let mut work = Work { sweep: &sweep, program, is_python, stop: &stop, kill: &kill, failed: Vec::new() };
    let mut alive: Vec<(PathBuf, &Planned)> = planned.iter().map(|run| (folder.join(&run.name), run)).collect();
    let mut stages = Vec::new();
    for share in sweep.stages() {
        let minutes = share * sweep.cpu_minutes;
        work.train(minutes, &alive)?;
        if stop.load(Ordering::Relaxed) {
            let folder = args.run.as_ref().map_or(String::new(), |run| format!(" --run {}", quoted(run)));
            eprintln!("stopped; continue with: {} sweep {}{folder}", command(), quoted(&args.file));
            return Err(Failure::Status(INTERRUPTED));
        }
        alive.retain(|(place, _)| !work.failed.contains(place));
        let members = alive.iter().map(|(place, _)| Member::read(place)).collect::<Result<_, _>>()?;
        let compared = Comparison::by(sweep.measure, 60.0 * minutes, members)?;
        let better = compared.better_half();
        alive.retain(|(place, _)| better.contains(place));
        stages.push(compared);
    }
    show(&folder, &stages, args.json)?;
    let failed: Vec<_> = work.failed.iter().map(|place| place.display().to_string()).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(format!("failed: {}; the reasons are above", failed.join(", ")))),
    }
}

/// The table of all runs, what was compared where the worse half was dropped, and the comparison of those with the whole
/// budget.
fn show(folder: &Path, stages: &[Comparison], as_json: bool) -> Result<(), Failure> {
    let runs = list(folder)?;
    let (last, before) = stages.split_last().expect("a sweep has a stage");
    let text = if as_json {
        serde_json::to_string_pretty(&json!({ "runs": runs, "halvings": before, "comparison": last }))?
    } else {
        let halving = |compared| format!("\nThe better half of these continued: {}", groups_table(compared));
        let halvings: String = before.iter().map(halving).collect();
        format!("{}{halvings}\n{}", runs_table(&runs), compared_text(last))
    };
    Ok(writeln!(stdout(), "{text}")?)
}

struct Work<'a> {
    sweep: &'a Sweep,
    program: PathBuf,
    is_python: bool, // there this program is a module
    stop: &'a AtomicBool,
    kill: &'a AtomicBool, // whether stopped runs have no time to save
    failed: Vec<PathBuf>, // runs whose training failed
}

impl Work<'_> {
    /// Trains runs up to this many CPU minutes, some at a time, until all have ended or `stop` is set.
    fn train(&mut self, minutes: f64, runs: &[(PathBuf, &Planned)]) -> Result<(), Failure> {
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let mut waiting = runs.iter().filter(|(place, _)| !has_ended(place, minutes));
        let mut training: Vec<(&Path, Child)> = Vec::new();
        let mut failure = None;
        loop {
            while training.len() < self.sweep.jobs()
                && !is_stopped()
                && failure.is_none()
                && let Some((place, run)) = waiting.next()
            {
                eprintln!("{}: up to {minutes} CPU minutes", run.name);
                match self.start(place, run, minutes) {
                    Ok(child) => training.push((place, child)),
                    Err(error) => failure = Some(error),
                }
            }
            if training.is_empty() || is_stopped() || failure.is_some() {
                break;
            }
            thread::sleep(LOOK_EVERY);
            let mut going = Vec::new();
            for (place, mut child) in training {
                match child.try_wait()? {
                    Some(status) if !status.success() && !is_stopped() => self.failed.push(place.to_owned()),
                    Some(_) => {}
                    None => going.push((place, child)),
                }
            }
            training = going;
        }
        let asked = Instant::now();
        training.iter().for_each(|(_, child)| ask_to_stop(child));
        let is_patient = || asked.elapsed() < PATIENCE && !self.kill.load(Ordering::Relaxed);
        for (_, mut child) in training {
            while child.try_wait()?.is_none() && is_patient() {
                thread::sleep(LOOK_EVERY);
            }
            let _ = child.kill(); // an error means that it has ended
            child.wait()?;
        }
        failure.map_or(Ok(()), Err)
    }

    /// Starts a run, or continues it. A process that a killed sweep left behind has to end first.
    fn start(&self, place: &Path, run: &Planned, minutes: f64) -> Result<Child, Failure> {
        while is_locked(place).0 && !self.stop.load(Ordering::Relaxed) {
            thread::sleep(LOOK_EVERY);
        }
        if !place.join(CONFIG).exists() {
            RunFolder::create(place, &run.config, None)?;
        }
        let mut command = Command::new(&self.program);
        command.args(if self.is_python { &["-m", "jarmo"][..] } else { &[] });
        command.args(["train", "--resume"]).arg(place).args(["--cpu-minutes", &minutes.to_string()]);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // What it prints is in its metrics, too, except errors.
        let started = command.args(&self.sweep.train).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        started.map_err(|error| Failure::new(format!("cannot start {}: {error}", self.program.display())))
    }
}

/// Stops a run as Ctrl-C does. A signal to the sweep does not reach it, because it has its own process group; otherwise
/// Ctrl-C in a terminal would come twice.
#[cfg(unix)]
fn ask_to_stop(run: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let _ = kill_process(Pid::from_child(run), Signal::TERM); // an error means that it has ended
}

/// The console passes Ctrl-C on to the runs.
#[cfg(not(unix))]
fn ask_to_stop(_: &Child) {}

/// Whether a run has ended at this limit. With matches it ends up to a fifth before, because the last one fits in.
fn has_ended(run: &Path, minutes: f64) -> bool {
    let run = summary(run, run);
    run.cpu_seconds >= 60.0 * minutes || (run.state == State::Finished && run.cpu_seconds >= 48.0 * minutes)
}
