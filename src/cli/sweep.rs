//! `jarmo sweep`

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::interrupt::{INTERRUPTED, stop_on_interrupt};
use super::runs::{compared_text, runs_table, verdict};
use super::{Failure, in_file, write_output};
use jarmo_core::checksum::{sealed_line, sealed_lines};
use jarmo_facade::Games;
use jarmo_host::files::{LINES_BYTES, Locks, lock_folder, read, read_text};
use jarmo_host::program::{command, quoted};
use jarmo_host::run_folder::CONFIG;
use jarmo_learn::compare::{Comparison, Member};
use jarmo_learn::run::{RunFolder, list};
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

/// The copy of the sweep's file in its folder, and the file with what has been decided, one line each.
const COPY: &str = "sweep.toml";
const LOG: &str = "sweep.jsonl";

/// How long runs have time to save after Ctrl-C before they are killed, which costs what they did since their checkpoints.
const PATIENCE: Duration = Duration::from_secs(30);

const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A line of the log. With a tag inside, the check of the line is one more field, which reading ignores.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(tag = "decided", rename_all = "snake_case")]
enum Decided {
    /// A run has had its time up to a stage.
    Ended { run: String, stage: usize },
    /// These choices continue after a stage.
    Kept { choices: Vec<usize>, stage: usize },
}

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
    match read_text(&copy, LINES_BYTES) {
        Ok(known) if known == text => {}
        Ok(_) => {
            return Err(in_file(&copy, "it differs from the file of this sweep; choose another folder with --run"));
        }
        Err(_) => write_output(&copy, text)?,
    }
    let stop = stop_on_interrupt()?;
    let log = read(&folder.join(LOG), LINES_BYTES).unwrap_or_default(); // at first there is none
    let decided = sealed_lines(&log).filter_map(|line| serde_json::from_str(line.text?).ok()).collect();
    let mut work = Work { sweep, folder, planned, decided, failed: Vec::new() };
    let mut alive: Vec<usize> = work.planned.iter().map(|run| run.choice).collect();
    for (stage, share) in work.sweep.stages().iter().enumerate() {
        work.train(stage, share * work.sweep.cpu_minutes, &alive, &stop)?;
        if stop.load(Ordering::Relaxed) {
            let folder = args.run.as_ref().map_or(String::new(), |run| format!(" --run {}", quoted(run)));
            eprintln!("stopped; continue with: {} sweep {}{folder}", command(), quoted(&args.file));
            return Err(Failure::Status(INTERRUPTED));
        }
        if *share < 1.0 {
            alive = work.keep(stage, &alive)?;
        }
    }
    work.show_result(&alive, args.json)?;
    match work.failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(format!("failed: {}; see their .log files", work.failed.join(", ")))),
    }
}

struct Work {
    sweep: Sweep,
    folder: PathBuf,
    planned: Vec<Planned>,
    decided: Vec<Decided>,
    failed: Vec<String>, // names of runs whose training failed
}

impl Work {
    fn decide(&mut self, decided: Decided) -> Result<(), Failure> {
        let path = self.folder.join(LOG);
        let line = format!("{}\n", sealed_line(&serde_json::to_string(&decided)?));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| in_file(&path, error))?;
        self.decided.push(decided);
        Ok(())
    }

    /// Trains the runs of these choices up to this many CPU minutes, some at a time, until all have ended or `stop` is set.
    fn train(&mut self, stage: usize, minutes: f64, alive: &[usize], stop: &AtomicBool) -> Result<(), Failure> {
        let is_due = |run: &&Planned| {
            let ended = Decided::Ended { run: run.name.clone(), stage };
            alive.contains(&run.choice) && !self.failed.contains(&run.name) && !self.decided.contains(&ended)
        };
        let mut waiting: Vec<Planned> = self.planned.iter().rev().filter(is_due).cloned().collect();
        let mut training: Vec<(String, Child)> = Vec::new();
        while !stop.load(Ordering::Relaxed) && (!waiting.is_empty() || !training.is_empty()) {
            while training.len() < self.sweep.jobs()
                && let Some(run) = waiting.pop()
            {
                eprintln!("{}: up to {minutes} CPU minutes", run.name);
                let child = self.start(&run, minutes, stop)?;
                training.push((run.name, child));
            }
            thread::sleep(LOOK_EVERY);
            let mut going = Vec::new();
            for (name, mut child) in training {
                match child.try_wait()?.map(|status| status.success()) {
                    Some(true) if !stop.load(Ordering::Relaxed) => self.decide(Decided::Ended { run: name, stage })?,
                    Some(false) if !stop.load(Ordering::Relaxed) => self.failed.push(name),
                    Some(_) => {} // it was stopped
                    None => going.push((name, child)),
                }
            }
            training = going;
        }
        let asked = Instant::now();
        for (_, mut child) in training {
            while child.try_wait()?.is_none() && asked.elapsed() < PATIENCE {
                thread::sleep(LOOK_EVERY);
            }
            let _ = child.kill(); // an error means that it has ended
            child.wait()?;
        }
        Ok(())
    }

    /// Starts a run, or continues it. A process that a killed sweep left behind has to end first.
    fn start(&self, run: &Planned, minutes: f64, stop: &AtomicBool) -> Result<Child, Failure> {
        let place = self.folder.join(&run.name);
        while Locks::now().of(&place).0 && !stop.load(Ordering::Relaxed) {
            thread::sleep(LOOK_EVERY);
        }
        if !place.join(CONFIG).exists() {
            RunFolder::create(&place, &run.config, None)?;
        }
        let log = self.folder.join(format!("{}.log", run.name));
        let log = OpenOptions::new().create(true).append(true).open(&log).map_err(|error| in_file(&log, error))?;
        let mut program = env::current_exe()?;
        let is_python = program.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("python"));
        if is_python && let Some(typed) = env::args_os().next() {
            program = typed.into(); // in a virtual environment a link, whose place leads to the packages
        }
        let mut command = Command::new(program);
        command.args(if is_python { &["-m", "jarmo"][..] } else { &[] }); // there it is a module
        command.args(["train", "--resume"]).arg(&place).args(["--cpu-minutes", &minutes.to_string()]);
        command.args(&self.sweep.train).stdin(Stdio::null()).stderr(log.try_clone()?).stdout(log);
        Ok(command.spawn()?)
    }

    /// The choices that continue after a stage.
    fn keep(&mut self, at: usize, alive: &[usize]) -> Result<Vec<usize>, Failure> {
        let known = self.decided.iter().find_map(|one| match one {
            Decided::Kept { choices, stage } if *stage == at => Some(choices.clone()),
            _ => None,
        });
        if let Some(kept) = known {
            return Ok(kept);
        }
        let mut choices: Vec<usize> = alive.to_vec();
        choices.dedup();
        let runs = choices.iter().map(|&choice| Ok((choice, self.members(&[choice])?)));
        let kept = self.sweep.keep(&runs.collect::<Result<Vec<_>, Failure>>()?);
        self.decide(Decided::Kept { choices: kept.clone(), stage: at })?;
        Ok(kept)
    }

    /// The runs of some choices whose training did not fail.
    fn members(&self, choices: &[usize]) -> Result<Vec<Member>, Failure> {
        let runs = self.planned.iter().filter(|run| choices.contains(&run.choice) && !self.failed.contains(&run.name));
        runs.map(|run| Ok(Member::read(&self.folder.join(&run.name))?)).collect()
    }

    /// The table of all runs, and the comparison of those with the whole budget.
    fn show_result(&self, alive: &[usize], as_json: bool) -> Result<(), Failure> {
        let (runs, measure) = (list(&self.folder)?, self.sweep.measure);
        let compared = Comparison::new(self.members(alive)?)?;
        let text = if as_json {
            let all = json!({ "runs": runs, "comparison": compared, "verdict": verdict(&compared, measure) });
            serde_json::to_string_pretty(&all)?
        } else {
            format!("{}\n{}", runs_table(&runs), compared_text(&compared, measure))
        };
        Ok(writeln!(stdout(), "{text}")?)
    }
}
