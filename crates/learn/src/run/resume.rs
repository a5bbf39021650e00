//! The state that a run is resumed from, in the folder `resume`. A checkpoint writes `current.json` last,
//! which names the other files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::{FIRST, REPLAY, RESUME, RunFolder, agents, at, broken, line_of, read_lines};
use super::state::{Counters, Saved};
use crate::TrainError;
use crate::config::{Config, RunSettings};
use jarmo_core::checksum::sound_line;
use jarmo_core::net::GameVersion;
use jarmo_host::container::read_file;
use jarmo_host::files::{LINES_BYTES, list, read};
use jarmo_host::run_folder::METRICS;
use jarmo_selfplay::replay::Samples;

pub(super) const CURRENT: &str = "resume/current.json";

/// The files of a checkpoint.
pub(super) const LEARNER: &str = "learner.safetensors";
pub(super) const GAMES: &str = "games.json";
const PENDING: &str = "pending.safetensors";
const FILES: [&str; 3] = [LEARNER, GAMES, PENDING];

/// The content of `current.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct Current {
    settings: Settings,
    pub(super) at: Place,
}

/// The text of every setting by its key, such as `learner.rate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings(BTreeMap<String, String>);

impl Settings {
    pub(super) fn of(config: &Config) -> Settings {
        let all = config.settings().into_iter();
        Settings(all.map(|(key, value)| (key, value.to_string())).collect())
    }

    /// A sentence for every setting that has changed, except limits, which do not affect what a run learns.
    pub(super) fn changes(&self, now: &Settings) -> Vec<String> {
        let limits = RunSettings::LIMITS.map(|(name, _)| format!("run.{name}"));
        let others = now.0.iter().filter(|(key, _)| !limits.contains(key));
        let pairs = others.filter_map(|(key, new)| {
            let old = self.0.get(key)?;
            (old != new).then(|| format!("{key} is {new}, and was {old} when the run was saved"))
        });
        pairs.collect()
    }
}

/// How far a run has come.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// There is no checkpoint yet, and the run starts again.
    Start {
        from_agent: bool, // and not from random weights
    },
    Checkpoint(Box<Counters>),
}

impl RunFolder {
    pub(super) fn write_current(&self, at: Place) -> Result<(), TrainError> {
        let current = line_of(&Current { settings: self.settings.clone(), at });
        self.write(CURRENT, current.as_bytes())
    }

    pub(super) fn save_checkpoint(&self, saved: &Saved, origin: &GameVersion) -> Result<(), TrainError> {
        let parts = [
            (LEARNER, &saved.learner),
            (PENDING, &saved.pending.to_bytes(origin)),
            (GAMES, &line_of(&saved.games).into_bytes()),
        ];
        for (name, bytes) in parts {
            self.write(&part(&saved.counters, name), bytes)?;
        }
        self.write_current(Place::Checkpoint(Box::new(saved.counters.clone())))
    }

    /// The last checkpoint, if there is one, and warnings. Fails instead of starting again in the folder of another
    /// run.
    pub(super) fn load_checkpoint(&self, origin: &GameVersion) -> Result<(Option<Saved>, Vec<String>), TrainError> {
        let Some(current) = read_current(&self.path)? else {
            return match self.remains()? {
                None => Ok((None, Vec::new())),
                Some(found) => {
                    let problem = format!("missing, although there is {found}");
                    Err(self.broken(&self.path.join(CURRENT), problem))
                }
            };
        };
        let changes = current.settings.changes(&self.settings);
        let warnings = changes.into_iter().map(|change| {
            let folder = self.path.display();
            format!("{folder}/config.toml: {change}")
        });
        let counters = match current.at {
            Place::Checkpoint(counters) => *counters,
            Place::Start { from_agent } => {
                let first = self.path.join(FIRST);
                if from_agent && !first.try_exists().map_err(|error| at(&first, error))? {
                    return Err(self.broken(&first, "missing, and the run starts from it"));
                }
                return Ok((None, warnings.collect()));
            }
        };
        let games = self.part_path(&counters, GAMES);
        let bytes = read(&games, LINES_BYTES).map_err(|error| self.unreadable(&games, error))?;
        let text = sound_line(&bytes).ok_or_else(|| self.broken(&games, DAMAGED))?;
        let games = serde_json::from_str(text).map_err(|error| self.broken(&games, error))?;
        let pending = self.part_path(&counters, PENDING);
        let samples = Samples::from_bytes(&self.read_arrays(&pending)?, origin);
        let saved = Saved {
            learner: self.read_arrays(&self.part_path(&counters, LEARNER))?,
            games,
            pending: samples.map_err(|error| self.broken(&pending, error))?,
            counters,
        };
        Ok((Some(saved), warnings.collect()))
    }

    /// A file that a run writes while it trains, if there is one. The folder of a new run has none.
    pub(super) fn remains(&self) -> Result<Option<String>, TrainError> {
        let metrics = self.path.join(METRICS);
        if metrics.try_exists().map_err(|error| at(&metrics, error))? {
            return Ok(Some(METRICS.to_owned()));
        }
        if let Some((_, agent)) = agents(&self.path)?.pop() {
            return Ok(Some(agent.display().to_string()));
        }
        for folder in [RESUME, REPLAY] {
            let folder = self.path.join(folder);
            let found = list(&folder).map_err(|error| at(&folder, error))?;
            if let Some(path) = found.iter().find(|path| is_state(path)) {
                return Ok(Some(path.display().to_string()));
            }
        }
        Ok(None)
    }

    /// Deletes older states, and older agents except the newest and those that have played matches.
    pub(super) fn tidy(&self, counters: &Counters, keep: usize, played: &[u64]) -> Result<(), TrainError> {
        let remove = |path: &Path| fs::remove_file(path).map_err(|error| at(path, error));
        let resume = self.path.join(RESUME);
        let current = FILES.map(|name| self.part_path(counters, name));
        for path in list(&resume).map_err(|error| at(&resume, error))? {
            if is_state(&path) && !current.contains(&path) {
                remove(&path)?;
            }
        }
        let mut agents = agents(&self.path)?;
        agents.retain(|(step, _)| *step <= counters.step && !played.contains(step));
        let older = agents.len().saturating_sub(keep);
        agents[..older].iter().try_for_each(|(_, path)| remove(path))
    }

    pub(super) fn part_path(&self, counters: &Counters, name: &str) -> PathBuf {
        self.path.join(part(counters, name))
    }

    fn read_arrays(&self, path: &Path) -> Result<Vec<u8>, TrainError> {
        read_file(path).map_err(|error| self.unreadable(path, error))
    }

    /// The error for a file of a checkpoint. A file that cannot be read may still be undamaged.
    fn unreadable(&self, path: &Path, error: io::Error) -> TrainError {
        match error.kind() {
            io::ErrorKind::NotFound => self.broken(path, "missing"),
            io::ErrorKind::InvalidData => self.broken(path, error),
            _ => at(path, error),
        }
    }
}

const DAMAGED: &str = "damaged: its checksum does not match";

/// How far the run in a folder has come, if its file is there.
pub(super) fn read_current(run: &Path) -> Result<Option<Current>, TrainError> {
    let Some(bytes) = read_lines(run, CURRENT)? else { return Ok(None) };
    let text = sound_line(&bytes).ok_or_else(|| broken(run, &run.join(CURRENT), DAMAGED))?;
    serde_json::from_str(text).map(Some).map_err(|error| broken(run, &run.join(CURRENT), error))
}

/// The name of a file of a checkpoint. It has the number of positions, too, because a stopped run may write the same
/// step twice.
fn part(counters: &Counters, name: &str) -> String {
    let Counters { step, positions, .. } = counters;
    format!("{RESUME}/{step:08}-{positions}-{name}")
}

/// Whether a path is a replay file, or a file of a checkpoint other than `current.json`.
fn is_state(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.unwrap_or_default().splitn(3, '-').collect();
    match parts[..] {
        [step, positions, name] => digits(step) && digits(positions) && FILES.contains(&name),
        [file] => file.strip_suffix(".safetensors").is_some_and(digits),
        _ => false,
    }
}
