//! The folder of a run. Every file in it is written completely or not at all. `resume.rs` reads and writes
//! the state that a run is resumed from, `lines.rs` the metrics and the order of files.

use std::env::consts::{ARCH, OS};
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::resume::{Place, Settings};
use crate::TrainError;
use crate::config::Config;
use crate::observe::EventFile;
use jarmo_core::checksum::sealed_line;
use jarmo_core::net::{AgentFile, KernelKind};
use jarmo_exact::agent::AgentSource;
use jarmo_facade::AnyGame;
use jarmo_host::agent_file;
use jarmo_host::files::{
    FolderLock, LINES_BYTES, SETTINGS_BYTES, lock_folder, read, read_text, remove_leftovers, write_whole,
};
use jarmo_host::program::{self, cores, this_program};
use jarmo_host::run_folder::{self, CHECKPOINTS, CONFIG, MANIFEST};

const EVENTS: &str = "tensorboard";
const PARTS: [&str; 3] = [CHECKPOINTS, RESUME, REPLAY];
pub(super) const RESUME: &str = "resume";
pub(super) const REPLAY: &str = "replay";
pub(super) const FIRST: &str = "first.safetensors";

/// The folder of a run, locked by this process.
#[derive(Debug)]
pub struct RunFolder {
    pub(super) path: PathBuf,
    pub(super) settings: Settings, // as config.toml has them
    _lock: FolderLock,
}

#[derive(Serialize)]
struct Manifest {
    program: String,
    commit: &'static str,
    changed: bool, // whether the sources differed from that commit
    toolchain: &'static str,
    system: &'static str,
    processor: &'static str,
    cores: usize,
    started: u64, // seconds since 1970
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_weights: Option<String>, // where they come from
}

impl RunFolder {
    /// Creates the folder of a new run with its settings and, if the run starts from an agent, the agent. The settings
    /// name the fastest kernel of this machine, so that the run keeps it on another machine.
    pub fn create(path: &Path, config: &Config, first: Option<&AgentFile>) -> Result<RunFolder, TrainError> {
        let mut config = config.clone();
        config.run.kernel.get_or_insert_with(KernelKind::best);
        let place = path.display();
        if path.join(CONFIG).exists() {
            return Err(TrainError(format!("{place} already contains a run; resume it, or choose another folder")));
        }
        for folder in PARTS {
            fs::create_dir_all(path.join(folder)).map_err(|error| {
                TrainError(format!(
                    "{place}: no folder for a run can be made here ({error}); name another one, in a place that you \
                     can write to"
                ))
            })?;
        }
        let folder = RunFolder::lock(path, &config)?;
        if let Some(found) = folder.remains()? {
            return Err(TrainError(format!(
                "{place} contains a run without its {CONFIG}: there is {found}; put {CONFIG} back, or name \
                 another folder"
            )));
        }
        let path_of_first = path.join(FIRST);
        match first {
            Some(agent) => agent_file::save(agent, &path_of_first).map_err(TrainError::new)?,
            None => match fs::remove_file(&path_of_first) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&path_of_first, error)),
                _ => {} // if there was one, it was of an attempt that failed
            },
        }
        let build = program::build();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let manifest = toml::to_string(&Manifest {
            program: this_program(),
            commit: build.commit,
            changed: build.is_changed,
            toolchain: build.toolchain,
            system: OS,
            processor: ARCH,
            cores: cores(),
            started: since.map_or(0, |time| time.as_secs()),
            seed: config.run.seed,
            first_weights: first.map(|agent| {
                let header = agent.header();
                let (run, step) = (&header.provenance.run, header.provenance.step);
                format!("{run} at step {step}, {}", header.net)
            }),
        });
        folder.write(MANIFEST, manifest.expect("a manifest is plain data").as_bytes())?;
        let from_agent = first.is_some();
        folder.write_current(Place::Start { from_agent })?;
        folder.write(CONFIG, config.to_toml().as_bytes())?;
        Ok(folder)
    }

    /// Opens the folder of a run that was stopped, and reads its settings.
    pub fn open(path: &Path) -> Result<(RunFolder, Config), TrainError> {
        let config = settings(path)?;
        let folder = RunFolder::lock(path, &config)?;
        remove_leftovers(path).map_err(|error| at(path, error))?;
        for part in PARTS {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(|error| at(&part, error))?;
            remove_leftovers(&part).map_err(|error| at(&part, error))?;
        }
        Ok((folder, config))
    }

    fn lock(path: &Path, config: &Config) -> Result<RunFolder, TrainError> {
        let lock = lock_folder(path).map_err(|error| at(path, error))?;
        let lock = lock.ok_or_else(|| {
            TrainError(format!(
                "{}: another process is training in this folder; stop it first, or name another folder",
                path.display()
            ))
        })?;
        Ok(RunFolder { path: path.to_owned(), settings: Settings::of(config), _lock: lock })
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path as text.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The error for a state file that is damaged, missing, or written by another version. Agent files remain usable.
    pub(super) fn broken(&self, file: &Path, problem: impl Display) -> TrainError {
        broken(&self.path, file, problem)
    }

    /// Writes an agent as the checkpoint of its step.
    pub(super) fn save_agent(&self, agent: &AgentFile) -> Result<PathBuf, TrainError> {
        let path = self.agent_path(agent.header().provenance.step);
        agent_file::save(agent, &path).map_err(|error| self.unwritten(error))?;
        Ok(path)
    }

    /// Reads the agent of a step.
    pub(super) fn load_agent(&self, step: u64) -> Result<AgentFile, TrainError> {
        agent_file::load(&self.agent_path(step)).map_err(TrainError::new)
    }

    fn agent_path(&self, step: u64) -> PathBuf {
        run_folder::checkpoint(&self.path, step)
    }

    /// The agent that the run starts from, unless it starts from random weights.
    pub(super) fn first_weights(&self, game: &dyn AnyGame) -> Result<Option<AgentFile>, TrainError> {
        let path = self.path.join(FIRST);
        if !path.try_exists().map_err(|error| at(&path, error))? {
            return Ok(None);
        }
        game.load(&AgentSource::File(path)).map(Some).map_err(TrainError::new)
    }

    /// Starts a file for TensorBoard that continues after this step.
    pub(super) fn open_events(&self, step: u64) -> Result<EventFile, TrainError> {
        let folder = self.path.join(EVENTS);
        EventFile::create(&folder, step + 1).map_err(|error| at(&folder, error))
    }

    /// Appends a line with its checksum to a file.
    pub(super) fn append(&self, name: &str, line: &impl Serialize) -> Result<(), TrainError> {
        let path = self.path.join(name);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all((line_of(line) + "\n").as_bytes()));
        written.map_err(|error| self.unwritten(at(&path, error)))
    }

    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), TrainError> {
        let path = self.path.join(name);
        write_whole(&path, content).map_err(|error| self.unwritten(at(&path, error)))
    }

    /// The error for a file that could not be written.
    pub(super) fn unwritten(&self, error: impl Display) -> TrainError {
        TrainError(format!("{error}; earlier files are intact, and the run can be resumed"))
    }
}

/// See [`RunFolder::broken`].
pub(super) fn broken(run: &Path, file: &Path, problem: impl Display) -> TrainError {
    let way_out = newest_agent(run)
        .map_or_else(String::new, |agent| format!(", or start a new run from its newest agent, {}", agent.display()));
    TrainError(format!("{}: {problem}; put back a copy of this file{way_out}", file.display()))
}

/// The content of a file with checked lines in the folder of a run, if there is such a file.
pub(super) fn read_lines(run: &Path, name: &str) -> Result<Option<Vec<u8>>, TrainError> {
    let path = run.join(name);
    match read(&path, LINES_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|error| at(&path, error)),
    }
}

/// The agent that the run in a folder started from, unless it started from random weights.
pub fn origin(run: &Path) -> Result<Option<String>, TrainError> {
    let file = run.join(MANIFEST);
    let text = read_text(&file, SETTINGS_BYTES).map_err(|error| at(&file, error))?;
    let wrong = |error: toml::de::Error| TrainError(format!("{}: {}", file.display(), error.message()));
    let manifest: toml::Table = text.parse().map_err(wrong)?;
    Ok(manifest.get("first_weights").and_then(|from| from.as_str()).map(str::to_owned))
}

/// The settings of the run in a folder.
pub fn settings(run: &Path) -> Result<Config, TrainError> {
    let file = run.join(CONFIG);
    let text = read_text(&file, SETTINGS_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let file = file.display();
            TrainError(format!("{file}: missing; no run was started here, or its settings are lost"))
        }
        _ => at(&file, error),
    })?;
    Config::from_toml(&text).map_err(|error| TrainError(format!("{}: {error}", file.display())))
}

/// The newest agent file of a run, if there is one.
pub fn newest_agent(run: &Path) -> Option<PathBuf> {
    let mut agents = agents(run).unwrap_or_default();
    agents.pop().map(|(_, path)| path)
}

/// The agent files of a run with their steps, oldest first.
pub(super) fn agents(run: &Path) -> Result<Vec<(u64, PathBuf)>, TrainError> {
    let folder = run.join(CHECKPOINTS);
    match run_folder::checkpoints(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(|error| at(&folder, error)),
    }
}

/// Plain data as a line of JSON with its checksum.
pub(super) fn line_of(data: &impl Serialize) -> String {
    sealed_line(&serde_json::to_string(data).expect("plain data"))
}

pub(super) fn at(path: &Path, error: io::Error) -> TrainError {
    TrainError(format!("{}: {error}", path.display()))
}
