//! Reads runs from their folders without locks, even those that are running, damaged, or of another version.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::folder::{at, broken, line_of, read_lines};
use super::lines::metrics_of;
use super::resume::{CURRENT, Current, Place, read_current};
use crate::TrainError;
use crate::config::Config;
use crate::observe::{Metrics, Strength};
use jarmo_core::checksum::{sealed_lines, sound_line};
use jarmo_host::files::{SETTINGS_BYTES, is_locked, read, read_text, write_whole};
use jarmo_host::run_folder::{CONFIG, METRICS, find};
use jarmo_judge::accuracy::ExamScore;

/// The file with the last exam that was taken with search.
const SEARCHED: &str = "exam.json";

/// What a list of runs shows of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Its path below the folder that was searched.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The name of its game; empty if its settings cannot be read.
    pub game: String,
    /// What it is doing.
    pub state: State,
    /// The number of the process that trains, where the system tells it.
    pub process: Option<u32>,
    /// The seconds until the limit at the speed so far, while it runs to a limit.
    pub seconds_left: Option<f64>,
    /// The file of a broken run, and what is wrong with it.
    pub problem: Option<String>,
    /// Training steps.
    pub steps: u64,
    /// Seconds of CPU time.
    pub cpu_seconds: f64,
    /// The last exam of the network without search.
    pub exam: Option<ExamScore>,
    /// The training steps up to that exam.
    pub exam_step: Option<u64>,
    /// The last exam with search.
    pub searched: Option<Searched>,
    /// The last rating.
    pub strength: Option<Strength>,
    /// Seconds since its files changed.
    pub age: f64,
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A process trains.
    Running,
    /// It was stopped, and can be resumed.
    Stopped,
    /// It has reached its limit.
    Finished,
    /// It cannot be resumed as it is.
    Broken,
}

impl State {
    /// `running`, `stopped`, `finished` or `broken`.
    pub const fn name(self) -> &'static str {
        ["running", "stopped", "finished", "broken"][self as usize]
    }
}

/// The result of an exam that a checkpoint took with search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The training steps of the checkpoint.
    pub step: u64,
    /// The simulations per decision.
    pub simulations: u64,
    /// The result.
    pub score: ExamScore,
}

impl Searched {
    fn read(run: &Path) -> Option<Searched> {
        let bytes = read(&run.join(SEARCHED), SETTINGS_BYTES).ok()?;
        serde_json::from_str(sound_line(&bytes)?).ok()
    }

    /// Keeps the result in the folder of its run, and returns it.
    pub fn keep(self, run: &Path) -> Result<Searched, TrainError> {
        let path = run.join(SEARCHED);
        write_whole(&path, line_of(&self).as_bytes()).map_err(|error| at(&path, error))?;
        Ok(self)
    }
}

/// The runs below a folder, by name.
pub fn list(folder: &Path) -> Result<Vec<Summary>, TrainError> {
    let runs = find(folder).map_err(|error| at(folder, error))?;
    Ok(runs.par_iter().map(|run| summary(run, folder)).collect())
}

/// The run in a folder, named by its path below the folder `below`.
pub fn summary(run: &Path, below: &Path) -> Summary {
    let config = read_settings(run);
    let metrics = read_lines(run, METRICS).ok().flatten().unwrap_or_default();
    // A half-written line does not count. Only lines with the field are parsed, because parsing takes the most time.
    let newest = |field: &str| {
        let lines = metrics.rsplit(|&byte| byte == b'\n').filter_map(sound_line);
        lines.filter(|line| line.contains(field)).find_map(metrics_of)
    };
    let line = newest("").unwrap_or_default();
    let current = read_current(run).and_then(|found| found.ok_or_else(|| broken(run, &run.join(CURRENT), "missing")));
    // A checkpoint can be newer than the last line, and in a running run it is usually older.
    let (steps, games, seconds, cpu_seconds) = match &current {
        Ok(Current { at: Place::Checkpoint(at), .. }) if at.seconds > line.timing.seconds => {
            (at.step, at.games, at.seconds, at.cpu_seconds)
        }
        _ => (line.step, line.games, line.timing.seconds, line.timing.cpu_seconds),
    };
    let done = config.as_ref().ok().and_then(|config| config.run.done(steps, games, seconds, cpu_seconds));
    let (is_locked, process) = is_locked(run);
    let problem = config.as_ref().err().or(current.as_ref().err()).filter(|_| !is_locked).map(ToString::to_string);
    let state = match done {
        _ if is_locked => State::Running,
        _ if problem.is_some() => State::Broken,
        Some(1.0..) => State::Finished,
        _ if line.final_match.is_some() => State::Finished, // a limit of time includes it
        _ => State::Stopped,
    };
    let exam = newest("\"accuracy\":{");
    let name = run.strip_prefix(below).ok().filter(|name| !name.as_os_str().is_empty()).unwrap_or(run);
    let changed = [METRICS, CURRENT, CONFIG].map(|name| run.join(name).metadata().and_then(|found| found.modified()));
    let changed = changed.into_iter().flatten().max();
    Summary {
        name: name.display().to_string(),
        folder: run.to_owned(),
        game: config.map(|config| config.game.name).unwrap_or_default(),
        state,
        process,
        seconds_left: done.filter(|&done| is_locked && done > 0.0).map(|done| seconds * (1.0 - done) / done),
        problem,
        steps,
        cpu_seconds,
        exam: exam.as_ref().and_then(|line| line.accuracy),
        exam_step: exam.map(|line| line.step),
        searched: Searched::read(run),
        strength: newest("\"elo\":").and_then(|line| line.final_match.or(line.strength)),
        age: changed.and_then(|changed| changed.elapsed().ok()).unwrap_or_default().as_secs_f64(),
    }
}

/// The undamaged lines of a run's metrics, oldest first.
pub fn metrics(run: &Path) -> Result<Vec<Metrics>, TrainError> {
    let bytes = read_lines(run, METRICS)?.unwrap_or_default();
    Ok(sealed_lines(&bytes).filter_map(|line| metrics_of(line.text?)).collect())
}

/// The settings of a run. Checking every setting takes milliseconds, so settings that this version can read are not
/// checked again.
fn read_settings(run: &Path) -> Result<Config, TrainError> {
    let text = read_text(&run.join(CONFIG), SETTINGS_BYTES).ok();
    match text.and_then(|text| toml::from_str(&text).ok()) {
        Some(config) => Ok(config),
        None => super::settings(run),
    }
}
