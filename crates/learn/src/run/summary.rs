//! Reads runs from their folders without locks, even those that are running, damaged, or of another version.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::folder::{at, line_of};
use super::lines::metrics_of;
use super::resume::{CURRENT, DAMAGED};
use crate::TrainError;
use crate::config::Config;
use crate::observe::{Metrics, Strength};
use jarmo_core::checksum::{sealed_lines, sound_line};
use jarmo_host::files::{LINES_BYTES, Locks, SETTINGS_BYTES, read, read_text, write_whole};
use jarmo_host::run_folder::{CONFIG, METRICS, find};
use jarmo_judge::accuracy::ExamScore;

/// The file with the last exam that was taken with search.
const SEARCHED: &str = "exam.json";

/// The part of the metrics that is read first, from the end, in bytes.
const TAIL: u64 = 1 << 16;

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

/// The runs below a folder, by name.
pub fn list(folder: &Path) -> Result<Vec<Summary>, TrainError> {
    let runs = find(folder).map_err(|error| at(folder, error))?;
    let locks = Locks::now();
    Ok(runs.par_iter().map(|run| summary(run, folder, &locks)).collect())
}

/// The run in a folder, under its path below another one.
pub fn summary(run: &Path, below: &Path, locks: &Locks) -> Summary {
    let config = read_settings(run);
    let (line, exam, strength) = newest_metrics(run, config.as_ref().ok());
    let (line, saved) = (line.unwrap_or_default(), read_saved(run));
    // A checkpoint can be newer than the last line, and in a running run it is usually older.
    let (steps, games, seconds, cpu_seconds) = match &saved {
        Ok(saved) if saved.2 > line.timing.seconds => *saved,
        _ => (line.step, line.games, line.timing.seconds, line.timing.cpu_seconds),
    };
    let done = config.as_ref().ok().and_then(|config| config.run.done(steps, games, seconds, cpu_seconds));
    let (is_locked, process) = locks.of(run);
    let problem = config.as_ref().err().or(saved.as_ref().err()).filter(|_| !is_locked).map(ToString::to_string);
    let state = match done {
        _ if is_locked => State::Running,
        _ if problem.is_some() => State::Broken,
        Some(1.0..) => State::Finished,
        _ if line.final_match.is_some() => State::Finished, // a limit of time includes it
        _ => State::Stopped,
    };
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
        exam,
        searched: read(&run.join(SEARCHED), SETTINGS_BYTES)
            .ok()
            .and_then(|bytes| serde_json::from_str(sound_line(&bytes)?).ok()),
        strength,
        age: changed
            .and_then(|changed| SystemTime::now().duration_since(changed).ok())
            .unwrap_or_default()
            .as_secs_f64(),
    }
}

/// The undamaged lines of a run's metrics, oldest first.
pub fn metrics(run: &Path) -> Result<Vec<Metrics>, TrainError> {
    let path = run.join(METRICS);
    let bytes = match read(&path, LINES_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes.map_err(|error| at(&path, error))?,
    };
    Ok(sealed_lines(&bytes).filter_map(|line| metrics_of(line.text?)).collect())
}

/// Keeps the result of an exam with search in the folder of its run.
pub fn keep_searched(run: &Path, result: &Searched) -> Result<(), TrainError> {
    let path = run.join(SEARCHED);
    write_whole(&path, line_of(result).as_bytes()).map_err(|error| at(&path, error))
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

/// The steps, games, seconds and CPU seconds of the last checkpoint; 0 before the first one.
fn read_saved(run: &Path) -> Result<(u64, u64, f64, f64), TrainError> {
    let path = run.join(CURRENT);
    let bytes = read(&path, LINES_BYTES).map_err(|error| at(&path, error))?;
    let text = sound_line(&bytes).ok_or_else(|| TrainError(format!("{}: {DAMAGED}", path.display())))?;
    let current: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let counters = &current["at"]["checkpoint"];
    let (whole, real) = (|key| counters[key].as_u64().unwrap_or(0), |key| counters[key].as_f64().unwrap_or(0.0));
    Ok((whole("step"), whole("games"), real("seconds"), real("cpu_seconds")))
}

/// The last line of metrics, the last exam and the last rating.
type Newest = (Option<Metrics>, Option<ExamScore>, Option<Strength>);

/// Reads from the end, and only as much as is needed. A half-written last line does not count.
fn newest_metrics(run: &Path, config: Option<&Config>) -> Newest {
    let Ok(mut file) = File::open(run.join(METRICS)) else { return Newest::default() };
    let size = file.metadata().map_or(0, |found| found.len());
    let has_matches = config.is_none_or(|config| config.evaluation.every > 0);
    let has_exam = config.is_none_or(|config| config.evaluation.exam != "none");
    let mut tail = TAIL;
    loop {
        let (mut last, mut exam, mut rating) = Newest::default();
        let mut bytes = Vec::new();
        let moved = file.seek(SeekFrom::Start(size.saturating_sub(tail)));
        if moved.and_then(|_| file.by_ref().take(tail).read_to_end(&mut bytes)).is_err() {
            return (last, exam, rating);
        }
        for metrics in bytes.rsplit(|&byte| byte == b'\n').filter_map(|line| metrics_of(sound_line(line)?)) {
            exam = exam.or(metrics.accuracy);
            rating = rating.or_else(|| metrics.final_match.clone().or(metrics.strength.clone()));
            last.get_or_insert(metrics);
            if (exam.is_some() || !has_exam) && (rating.is_some() || !has_matches) {
                return (last, exam, rating);
            }
        }
        if tail >= size {
            return (last, exam, rating);
        }
        tail *= 8;
    }
}
