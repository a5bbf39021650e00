//! Training runs as agents on the command line: a folder stands for its checkpoints.

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::standings::{Checkpoint, Entrant};
use crate::JudgeError;
use jarmo_core::agent::AgentSpec;
use jarmo_core::checksum::{SealedLine, sealed_lines};
use jarmo_core::game::shorten;
use jarmo_host::files;
use jarmo_host::run_folder::{self, CHECKPOINTS, METRICS};

/// An agent, and which checkpoint it is, if it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The agent's spec.
    pub spec: String,
    /// The checkpoint that it is, if it is one.
    pub checkpoint: Option<Checkpoint>,
}

/// The agents that an argument on the command line stands for. `run:FOLDER@STEP` is one checkpoint. `run:FOLDER`, or
/// the path of a folder, is every `every`-th checkpoint in it, counted back from the last one. Any other text is the
/// spec of one agent. Settings after a `?` apply to each of the agents.
pub fn expand(text: &str, every: usize) -> Result<Vec<Expanded>, JudgeError> {
    let (head, settings) = match text.find('?') {
        None => (text, ""),
        Some(at) => text.split_at(at),
    };
    let is_agent = text.parse::<AgentSpec>().is_ok(); // even if a folder has this name
    let named = if is_agent { Ok(None) } else { run_folder::named(head) };
    let Some((folder, step)) = named.map_err(|problem| error(text, problem))? else {
        return Ok(vec![Expanded { spec: text.to_owned(), checkpoint: None }]);
    };
    let chosen = match step {
        None => run_folder::all_checkpoints(folder)
            .map(|found| found.into_iter().rev().step_by(every.max(1)).collect::<Vec<_>>()),
        Some(_) => run_folder::checkpoint_at(folder, step).map(|one| vec![one]),
    };
    let chosen = chosen.map_err(|problem| error(text, &problem))?;
    let run = run_of(folder);
    let spent = processor_seconds(Path::new(&run)).map_err(|problem| error(text, &problem))?;
    let expanded = |(step, path): (u64, PathBuf)| Expanded {
        spec: format!("{}{settings}", path.display()),
        checkpoint: Some(Checkpoint { cpu_seconds: spent_until(&spent, step), run: run.clone(), step }),
    };
    Ok(chosen.into_iter().rev().map(expanded).collect())
}

/// The CPU seconds that the run had used at each step, oldest first, from its metrics. Empty if it has none.
fn processor_seconds(run: &Path) -> Result<Vec<(u64, f64)>, String> {
    let path = run.join(METRICS);
    let bytes = match files::read(&path, files::LINES_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    let spent = |line: SealedLine| {
        let damaged = || {
            format!(
                "{}: line {} is damaged; delete this line, or list agent files one by one",
                path.display(),
                line.number
            )
        };
        let line: Value = serde_json::from_str(line.text.ok_or_else(damaged)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let (step, timing) = (line["step"].as_u64(), &line["timing"]);
        Ok(step.zip(timing["cpu_seconds"].as_f64()))
    };
    // A line without line break is still being written, or the process was killed while it wrote it.
    sealed_lines(&bytes).filter(|line| line.is_whole).filter_map(|line| spent(line).transpose()).collect()
}

/// The CPU seconds at the last reported step that is not after `step`.
fn spent_until(spent: &[(u64, f64)], step: u64) -> Option<u64> {
    let before = spent.partition_point(|(known, _)| *known <= step);
    let (_, seconds) = spent.get(before.checked_sub(1)?)?;
    Some(*seconds as u64)
}

/// The agents with short names. A checkpoint's name is the last folder of its run and the step, such as `first@2000`,
/// with more of the path if another run has the same name. The name of any other agent is its spec.
pub fn entrants(agents: &[Expanded]) -> Vec<Entrant> {
    let mut runs: Vec<&str> = agents.iter().filter_map(|agent| Some(agent.checkpoint.as_ref()?.run.as_str())).collect();
    runs.sort_unstable();
    runs.dedup();
    let entrant = |agent: &Expanded| {
        let name = match &agent.checkpoint {
            None => agent.spec.clone(),
            Some(Checkpoint { run, step, .. }) => {
                let settings = agent.spec.find('?').map_or("", |at| &agent.spec[at..]);
                format!("{}@{step}{settings}", short_name(run, &runs))
            }
        };
        Entrant { name, checkpoint: agent.checkpoint.clone() }
    };
    agents.iter().map(entrant).collect()
}

/// The last folders of a run's path: as few of them as distinguish the run from the others.
fn short_name(run: &str, runs: &[&str]) -> String {
    let folders: Vec<&str> = run.split('/').collect();
    let ends = (0..folders.len()).rev().map(|first| folders[first..].join("/"));
    let shared = |end: &String| {
        let ends = |other: &&str| Path::new(other).ends_with(end);
        runs.iter().any(|other| *other != run && ends(other))
    };
    let mut ends = ends.skip_while(shared);
    ends.next().unwrap_or_else(|| run.to_owned())
}

fn error(text: &str, problem: impl fmt::Display) -> JudgeError {
    JudgeError::new(format!("agent `{}`: {problem}", shorten(text)))
}

/// The run that a folder of checkpoints belongs to, as a normalized path.
fn run_of(folder: &Path) -> String {
    let plain = |folder: &Path| -> PathBuf {
        let here = |part: &Component| *part != Component::CurDir;
        folder.components().filter(here).collect()
    };
    let run = match folder.parent() {
        Some(run) if folder.ends_with(CHECKPOINTS) => run,
        _ => folder,
    };
    let mut name = plain(run);
    // The last part of a path can be `.` or `..`, which would be no name for a run.
    if name.file_name().is_none() {
        let inside = if run.as_os_str().is_empty() { "." } else { "" };
        name = run.join(inside).canonicalize().unwrap_or(name);
    }
    name.display().to_string()
}
