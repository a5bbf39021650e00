//! Runs as agents on the command line: a folder stands for its checkpoints.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::standings::{Checkpoint, Entrant};
use crate::JudgeError;
use jarmo_core::checksum::{SealedLine, sealed_lines};
use jarmo_core::game::shorten;
use jarmo_host::files;
use jarmo_host::run_folder::{self, CHECKPOINTS, METRICS};

/// An agent's spec, and its checkpoint if it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The agent's spec.
    pub spec: String,
    /// The checkpoint.
    pub checkpoint: Option<Checkpoint>,
}

/// The agents that a text on the command line stands for. `run:FOLDER@STEP` is one checkpoint. `run:FOLDER`, or
/// any folder, is every `every`-th checkpoint in it, counted back from the last. Any other text is the
/// spec of one agent. Settings after a `?` apply to each agent.
pub fn expand(text: &str, every: usize) -> Result<Vec<Expanded>, JudgeError> {
    let (head, settings) = match text.find('?') {
        None => (text, ""),
        Some(at) => text.split_at(at),
    };
    let named = head.strip_prefix("run:");
    let (folder, step) = match named.and_then(|rest| rest.rsplit_once('@')) {
        Some((folder, step)) if !Path::new(&head["run:".len()..]).is_dir() => {
            let parsed = step.parse::<u64>().map_err(|_| error(text, "expected run:FOLDER@STEP"))?;
            (folder, Some(parsed))
        }
        _ => (named.unwrap_or(head), None),
    };
    let folder = Path::new(folder);
    if named.is_none() && !folder.is_dir() {
        return Ok(vec![Expanded { spec: text.to_owned(), checkpoint: None }]);
    }
    let found = list(folder).map_err(|problem| error(text, &problem))?;
    let chosen: Vec<_> = match step {
        None => found.into_iter().rev().step_by(every.max(1)).collect(),
        Some(step) => {
            let steps: Vec<String> = found.iter().map(|(step, _)| step.to_string()).collect();
            let one = found.into_iter().find(|&(found, _)| found == step);
            let missing = || error(text, &format!("no such step; the steps are {}", steps.join(", ")));
            vec![one.ok_or_else(missing)?]
        }
    };
    let run = run_of(folder);
    let spent = processor_seconds(Path::new(&run)).map_err(|problem| error(text, &problem))?;
    let expanded = |(step, path): (u64, PathBuf)| Expanded {
        spec: format!("{}{settings}", path.display()),
        checkpoint: Some(Checkpoint { cpu_seconds: spent_until(&spent, step), run: run.clone(), step }),
    };
    Ok(chosen.into_iter().rev().map(expanded).collect())
}

/// Processor seconds by step, oldest first, from a run's metrics; empty without them.
fn processor_seconds(run: &Path) -> Result<Vec<(u64, f64)>, String> {
    let path = run.join(METRICS);
    let bytes = match files::read(&path, files::LINES_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    let spent = |line: SealedLine| {
        let damaged = || {
            format!(
                "{}: line {} is damaged; delete this line, or name agent files one by one",
                path.display(),
                line.number
            )
        };
        let line: Value = serde_json::from_str(line.text.ok_or_else(damaged)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let (step, timing) = (line["step"].as_u64(), &line["timing"]);
        Ok(step.zip(timing["cpu_seconds"].as_f64()))
    };
    // A line without its end is still being written, or a process was killed meanwhile.
    sealed_lines(&bytes).filter(|line| line.is_whole).filter_map(|line| spent(line).transpose()).collect()
}

/// Processor seconds at the last reported step up to `step`.
fn spent_until(spent: &[(u64, f64)], step: u64) -> Option<u64> {
    let before = spent.partition_point(|(known, _)| *known <= step);
    let (_, seconds) = spent.get(before.checked_sub(1)?)?;
    Some(*seconds as u64)
}

/// The entrants under short names. A checkpoint is named by the last folder of its run and its step,
/// `first@2000`, with more of the path if two runs share it. All other agents are named by their specs.
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

/// The shortest end of a run's path, in whole folders, that no other run shares.
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

fn error(text: &str, problem: &str) -> JudgeError {
    JudgeError::new(format!("agent `{}`: {problem}", shorten(text)))
}

/// The run that a folder of checkpoints belongs to, in normal form.
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
    // `.` and `..` are not names.
    if name.file_name().is_none() {
        let inside = if run.as_os_str().is_empty() { "." } else { "" };
        name = run.join(inside).canonicalize().unwrap_or(name);
    }
    name.display().to_string()
}

/// The checkpoints of a run or a folder, sorted by step; at least one.
fn list(run: &Path) -> Result<Vec<(u64, PathBuf)>, String> {
    let inner = run.join(CHECKPOINTS);
    let folder = if inner.is_dir() { &inner } else { run };
    let found = run_folder::checkpoints(folder).map_err(|problem| match problem.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no folder {}; name the folder of a run", run.display())
        }
        _ => format!("{}: {problem}", folder.display()),
    })?;
    if found.is_empty() {
        return Err(format!(
            "no checkpoints in {}: no agent file's name ends in a step; name other agent files one by one",
            folder.display()
        ));
    }
    Ok(found)
}
