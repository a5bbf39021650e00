//! The folder of a run. Every file in it is written completely or not at all. A checkpoint writes
//! `resume/current.json` last, which names the state that the run is resumed from.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::RunError;
use super::state::{Counters, Saved};
use crate::config::Config;
use crate::encode::Encode;
use crate::files::{FolderLock, lock_folder, remove_leftovers, write_whole};
use crate::net::{AgentFile, GameVersion};
use crate::observe::{EventFile, Metrics};
use crate::program::{COMMIT, TOOLCHAIN, cores, is_changed, this_program};
use crate::replay::{Replay, ReplaySettings, Samples};
use crate::selfplay::GamesState;

const CONFIG: &str = "config.toml";
const MANIFEST: &str = "manifest.toml";
const METRICS: &str = "metrics.jsonl";
const CURRENT: &str = "current.json";
const EVENTS: &str = "tensorboard";
const PARTS: [&str; 3] = ["checkpoints", "resume", "replay"];
const FIRST: &str = "first.safetensors";

/// The folder of a run, locked by this process.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    _lock: FolderLock,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    program: String,
    commit: String,
    changed: bool, // whether the sources differed from that commit
    toolchain: String,
    system: String,
    processor: String,
    cores: usize,
    started: u64, // seconds since 1970
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_weights: Option<String>, // where they come from
}

impl RunFolder {
    /// Creates the folder of a new run with its settings and, if it starts from one, an agent.
    pub fn create(
        path: &Path,
        config: &Config,
        first: Option<&AgentFile>,
    ) -> Result<RunFolder, RunError> {
        let place = path.display();
        if path.join(CONFIG).exists() {
            return Err(RunError(format!(
                "{place} already holds a run; resume it (jarmo train --resume {place}) or name another \
                 folder with --run"
            )));
        }
        for folder in PARTS {
            let folder = path.join(folder);
            fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
        }
        let folder = RunFolder::lock(path)?;
        let manifest = Manifest {
            program: this_program(),
            commit: COMMIT.to_owned(),
            changed: is_changed(),
            toolchain: TOOLCHAIN.to_owned(),
            system: std::env::consts::OS.to_owned(),
            processor: std::env::consts::ARCH.to_owned(),
            cores: cores(),
            started: SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |time| time.as_secs()),
            seed: config.run.seed,
            first_weights: first.map(|agent| {
                let header = agent.header();
                let (run, step) = (&header.provenance.run, header.provenance.step);
                format!("{run} at step {step}, {}", header.net)
            }),
        };
        let manifest = toml::to_string(&manifest).expect("a manifest is plain data");
        if let Some(agent) = first {
            agent.save(&path.join(FIRST)).map_err(RunError::new)?;
        }
        folder.write(MANIFEST, manifest.as_bytes())?;
        folder.write(CONFIG, config.to_toml().as_bytes())?;
        Ok(folder)
    }

    /// Opens the folder of a run that was stopped, and reads its settings.
    pub fn open(path: &Path) -> Result<(RunFolder, Config), RunError> {
        let file = path.join(CONFIG);
        let text = fs::read_to_string(&file).map_err(|error| {
            RunError(format!(
                "{}: {error}; no run was started here",
                file.display()
            ))
        })?;
        let config = Config::from_toml(&text)
            .map_err(|error| RunError(format!("{}: {error}", file.display())))?;
        let folder = RunFolder::lock(path)?;
        for part in PARTS {
            let part = path.join(part);
            remove_leftovers(&part).map_err(|error| at(&part, error))?;
        }
        Ok((folder, config))
    }

    fn lock(path: &Path) -> Result<RunFolder, RunError> {
        let lock = lock_folder(path).map_err(|error| at(path, error))?;
        let lock = lock.ok_or_else(|| {
            RunError(format!(
                "{}: another process is training in this folder; stop it first, or name another \
                 folder with --run",
                path.display()
            ))
        })?;
        Ok(RunFolder {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// The path as it was given.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The command that continues the run.
    pub fn how_to_resume(&self) -> String {
        format!(
            "continue with: jarmo train --resume {}",
            self.path.display()
        )
    }

    /// The newest agent file, if there is one.
    pub fn newest_agent(&self) -> Option<PathBuf> {
        agents(&self.path).pop().map(|(_, path)| path)
    }

    /// The error for a state that cannot be read, or was written by another version. Agent files do not
    /// depend on it.
    pub(super) fn broken(&self, error: impl Display) -> RunError {
        let place = self.path.join("resume");
        let way_out = self.newest_agent().map_or_else(String::new, |agent| {
            let agent = agent.display();
            format!("; jarmo train --from {agent} starts a new run from its newest agent")
        });
        RunError(format!("{}: {error}{way_out}", place.display()))
    }

    pub(super) fn open_replay(
        &self,
        next_file: u64,
        settings: ReplaySettings,
        origin: GameVersion,
    ) -> Result<(Replay, Vec<String>), RunError> {
        let folder = self.path.join("replay");
        Replay::roll_back(&folder, next_file).map_err(RunError::new)?;
        Replay::open(&folder, settings, origin).map_err(RunError::new)
    }

    /// Appends a line to the metrics.
    pub(super) fn append_metrics(&self, metrics: &Metrics) -> Result<(), RunError> {
        let path = self.path.join(METRICS);
        let mut line = serde_json::to_string(metrics).expect("metrics are plain data");
        line.push('\n');
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| self.unwritten(at(&path, error)))
    }

    /// All lines of metrics; empty without a file.
    fn read_metrics(&self) -> Result<String, RunError> {
        let path = self.path.join(METRICS);
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read.map_err(|error| at(&path, error)),
        }
    }

    /// Changes the last line of the metrics, if there is one.
    pub(super) fn change_last_metrics(
        &self,
        change: impl FnOnce(&mut Metrics),
    ) -> Result<(), RunError> {
        let text = self.read_metrics()?;
        let (before, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", &text));
        let Ok(mut metrics) = serde_json::from_str::<Metrics>(last) else {
            return Ok(());
        };
        change(&mut metrics);
        let last = serde_json::to_string(&metrics).expect("metrics are plain data");
        let end = if before.is_empty() { "" } else { "\n" };
        self.write(METRICS, format!("{before}{end}{last}\n").as_bytes())
    }

    /// Removes lines after this step from the metrics, because the run will write them again.
    pub(super) fn cut_metrics(&self, step: u64) -> Result<(), RunError> {
        let text = self.read_metrics()?;
        let is_before = |line: &&str| {
            serde_json::from_str::<Metrics>(line).is_ok_and(|metrics| metrics.step <= step)
        };
        let kept: String = text
            .lines()
            .filter(is_before)
            .map(|line| format!("{line}\n"))
            .collect();
        if kept == text {
            return Ok(());
        }
        self.write(METRICS, kept.as_bytes())
    }

    /// Writes an agent into the checkpoints, under its step.
    pub(super) fn save_agent(&self, agent: &AgentFile) -> Result<PathBuf, RunError> {
        let path = self.agent_path(agent.header().provenance.step);
        agent.save(&path).map_err(|error| self.unwritten(error))?;
        Ok(path)
    }

    /// Reads the agent of a step.
    pub(super) fn load_agent(&self, step: u64) -> Result<AgentFile, RunError> {
        AgentFile::load(&self.agent_path(step)).map_err(RunError::new)
    }

    fn agent_path(&self, step: u64) -> PathBuf {
        let name = format!("checkpoints/step-{step:08}.safetensors");
        self.path.join(name)
    }

    /// The agent that the run starts from, unless it starts from random weights.
    pub(super) fn first_weights<G: Encode>(&self, game: &G) -> Result<Option<AgentFile>, RunError> {
        let path = self.path.join(FIRST);
        if !path.exists() {
            return Ok(None);
        }
        AgentFile::load_for(&path, game)
            .map(Some)
            .map_err(RunError::new)
    }

    /// Starts a file for TensorBoard that continues after this step.
    pub(super) fn open_events(&self, step: u64) -> Result<EventFile, RunError> {
        let folder = self.path.join(EVENTS);
        EventFile::create(&folder, step + 1).map_err(|error| at(&folder, error))
    }

    pub(super) fn save_checkpoint(
        &self,
        saved: &Saved,
        origin: &GameVersion,
    ) -> Result<(), RunError> {
        let step = saved.counters.step;
        let games = serde_json::to_vec(&saved.games).expect("games are plain data");
        let count = saved.counters.positions; // because a stopped run may write a step twice
        let parts = [
            ("learner.safetensors", &saved.learner),
            ("pending.safetensors", &saved.pending.to_bytes(origin)),
            ("games.json", &games),
        ];
        for (name, bytes) in parts {
            self.write(&part(step, count, name), bytes)?;
        }
        let counters = serde_json::to_vec(&saved.counters).expect("counters are plain data");
        self.write(&format!("resume/{CURRENT}"), &counters)
    }

    pub(super) fn load_checkpoint(&self, origin: &GameVersion) -> Result<Option<Saved>, RunError> {
        let Some(counters) = self.load_counters()? else {
            return Ok(None);
        };
        let read = |name: &str| {
            let path = self
                .path
                .join(part(counters.step, counters.positions, name));
            fs::read(&path).map_err(|error| at(&path, error))
        };
        let games: GamesState =
            serde_json::from_slice(&read("games.json")?).map_err(|error| self.broken(error))?;
        let pending = Samples::from_bytes(&read("pending.safetensors")?, origin)
            .map_err(|error| self.broken(error))?;
        Ok(Some(Saved {
            learner: read("learner.safetensors")?,
            games,
            pending,
            counters,
        }))
    }

    /// The counters of the last complete checkpoint.
    fn load_counters(&self) -> Result<Option<Counters>, RunError> {
        let current = self.path.join("resume").join(CURRENT);
        let bytes = match fs::read(&current) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| at(&current, error))?,
        };
        let counters = serde_json::from_slice(&bytes);
        counters.map(Some).map_err(|error| self.broken(error))
    }

    /// Deletes older states, and all agents but the newest and those that played matches.
    pub(super) fn tidy(&self, keep: usize, played: &[u64]) -> Result<(), RunError> {
        let resume = self.path.join("resume");
        let Some(counters) = self.load_counters()? else {
            return Ok(());
        };
        let prefix = part(counters.step, counters.positions, "");
        for entry in fs::read_dir(&resume).map_err(|error| at(&resume, error))? {
            let path = entry.map_err(|error| at(&resume, error))?.path();
            let name = path.file_name().map_or_else(String::new, |name| {
                format!("resume/{}", name.to_string_lossy())
            });
            if !name.starts_with(&prefix) && name != format!("resume/{CURRENT}") {
                fs::remove_file(&path).map_err(|error| at(&path, error))?;
            }
        }
        let mut agents = agents(&self.path);
        agents.retain(|(step, _)| !played.contains(step));
        let older = agents.len().saturating_sub(keep);
        for (_, path) in &agents[..older] {
            fs::remove_file(path).map_err(|error| at(path, error))?;
        }
        Ok(())
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), RunError> {
        let path = self.path.join(name);
        write_whole(&path, content).map_err(|error| self.unwritten(at(&path, error)))
    }

    /// The error for a file that could not be written.
    pub(super) fn unwritten(&self, error: impl Display) -> RunError {
        RunError(format!(
            "{error}; earlier files are intact, {}",
            self.how_to_resume()
        ))
    }
}

/// The agent of a checkpoint of a run: the newest one, or that of `step`.
pub fn checkpoint(run: &Path, step: Option<u64>) -> Result<AgentFile, RunError> {
    let agents = agents(run);
    let place = run.display();
    let chosen = match step {
        None => agents.last(),
        Some(step) => agents.iter().find(|agent| agent.0 == step),
    };
    let Some((_, path)) = chosen else {
        let steps: Vec<String> = agents.iter().map(|agent| agent.0.to_string()).collect();
        return Err(RunError(if steps.is_empty() {
            format!("{place}: this folder has no checkpoint")
        } else {
            format!(
                "{place}: there are checkpoints of steps {}",
                steps.join(", ")
            )
        }));
    };
    AgentFile::load(path).map_err(RunError::new)
}

/// The agent files of a run with their steps, oldest first.
fn agents(run: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(run.join("checkpoints")).into_iter().flatten();
    let mut agents: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?;
            let step = name.strip_prefix("step-")?.strip_suffix(".safetensors")?;
            Some((step.parse().ok()?, path))
        })
        .collect();
    agents.sort();
    agents
}

/// The name of a file of a checkpoint.
fn part(step: u64, positions: u64, name: &str) -> String {
    format!("resume/{step:08}-{positions}-{name}")
}

fn at(path: &Path, error: io::Error) -> RunError {
    RunError(format!("{}: {error}", path.display()))
}
