//! Runs on the command line: a directory stands for the checkpoints in it.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::standings::{Checkpoint, Entrant};
use super::tournament::ArenaError;

/// How the name of a checkpoint's agent file ends.
const ENDING: &str = "safetensors";

/// The folder of a run in which they are.
const FOLDER: &str = "checkpoints";

/// An agent to be made, and which checkpoint it is, if it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The agent's spec.
    pub spec: String,
    /// The checkpoint.
    pub checkpoint: Option<Checkpoint>,
}

/// What a text on the command line stands for. `run:DIR@STEP` is one checkpoint; `run:DIR`, or any directory, is
/// every `every`-th checkpoint in it, counted back from the last; any other text is the spec of one agent.
/// Settings after a `?` hold for each of them.
pub fn expand(text: &str, every: usize) -> Result<Vec<Expanded>, ArenaError> {
    let (head, settings) = match text.find('?') {
        None => (text, ""),
        Some(at) => text.split_at(at),
    };
    let named = head.strip_prefix("run:");
    let (folder, step) = match named.and_then(|rest| rest.rsplit_once('@')) {
        Some((folder, step)) if !Path::new(&head["run:".len()..]).is_dir() => {
            let parsed = step.parse::<u64>();
            let parsed = parsed.map_err(|_| error(text, "expected run:DIRECTORY@STEP"))?;
            (folder, Some(parsed))
        }
        _ => (named.unwrap_or(head), None),
    };
    let folder = Path::new(folder);
    if named.is_none() && !folder.is_dir() {
        return Ok(vec![Expanded {
            spec: text.to_owned(),
            checkpoint: None,
        }]);
    }
    let found = list(folder).map_err(|problem| error(text, &problem))?;
    let chosen: Vec<_> = match step {
        None => found.into_iter().rev().step_by(every.max(1)).collect(),
        Some(step) => {
            let steps: Vec<String> = found.iter().map(|(step, _)| step.to_string()).collect();
            let one = found.into_iter().find(|&(found, _)| found == step);
            let missing = || {
                error(
                    text,
                    &format!("no such step; there are {}", steps.join(", ")),
                )
            };
            vec![one.ok_or_else(missing)?]
        }
    };
    let run = run_of(folder);
    let expanded = |(step, path): (u64, PathBuf)| Expanded {
        spec: format!("{}{settings}", path.display()),
        checkpoint: Some(Checkpoint {
            run: run.clone(),
            step,
        }),
    };
    Ok(chosen.into_iter().rev().map(expanded).collect())
}

/// Who takes part, under names that fit into a table: a checkpoint goes by the last folder of its run and its step,
/// `first@2000`, with more of the path where that would mean two runs; all others by their specs.
pub fn entrants(agents: &[Expanded]) -> Vec<Entrant> {
    let mut runs: Vec<&str> = agents
        .iter()
        .filter_map(|agent| Some(agent.checkpoint.as_ref()?.run.as_str()))
        .collect();
    runs.sort_unstable();
    runs.dedup();
    let entrant = |agent: &Expanded| {
        let name = match &agent.checkpoint {
            None => agent.spec.clone(),
            Some(Checkpoint { run, step }) => {
                let settings = agent.spec.find('?').map_or("", |at| &agent.spec[at..]);
                format!("{}@{step}{settings}", short_name(run, &runs))
            }
        };
        Entrant {
            name,
            checkpoint: agent.checkpoint.clone(),
        }
    };
    agents.iter().map(entrant).collect()
}

/// As few of the last folders of a run's path as no other run ends in.
fn short_name(run: &str, runs: &[&str]) -> String {
    let folders: Vec<&str> = run.split('/').collect();
    let ends = (0..folders.len())
        .rev()
        .map(|first| folders[first..].join("/"));
    let shared = |end: &String| {
        let mut others = runs.iter().filter(|other| **other != run);
        others.any(|other| {
            other
                .strip_suffix(end.as_str())
                .is_some_and(is_whole_folder)
        })
    };
    let mut ends = ends.skip_while(shared);
    ends.next().unwrap_or_else(|| run.to_owned())
}

/// Whether what comes after this beginning of a path begins with a folder's name.
fn is_whole_folder(before: &str) -> bool {
    before.is_empty() || before.ends_with('/')
}

fn error(text: &str, problem: &str) -> ArenaError {
    ArenaError::new(format!("agent `{text}`: {problem}"))
}

/// The run that a directory of checkpoints belongs to, the same for all ways to write it.
fn run_of(folder: &Path) -> String {
    let plain = |folder: &Path| -> PathBuf {
        let here = |part: &Component| *part != Component::CurDir;
        folder.components().filter(here).collect()
    };
    let run = match folder.parent() {
        Some(run) if folder.ends_with(FOLDER) => run,
        _ => folder,
    };
    let mut name = plain(run);
    // `.` and `..` are no names.
    if name.file_name().is_none() {
        let inside = if run.as_os_str().is_empty() { "." } else { "" };
        name = run.join(inside).canonicalize().unwrap_or(name);
    }
    name.display().to_string()
}

/// The checkpoints of a run, or of a directory of them, by step: at least one.
fn list(run: &Path) -> Result<Vec<(u64, PathBuf)>, String> {
    let inner = run.join(FOLDER);
    let folder = if inner.is_dir() { &inner } else { run };
    let entries = fs::read_dir(folder).map_err(|problem| match problem.kind() {
        io::ErrorKind::NotFound => {
            format!(
                "there is no directory {}; name the folder of a run",
                run.display()
            )
        }
        _ => format!("{}: {problem}", folder.display()),
    })?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|problem| problem.to_string())?.path();
        if let Some(step) = step_of(&path) {
            found.push((step, path));
        }
    }
    if found.is_empty() {
        return Err(format!(
            "no checkpoints in {}: no file's name ends in its step and .{ENDING}; other agent files are named \
             one by one",
            folder.display()
        ));
    }
    found.sort();
    Ok(found)
}

/// The number at the end of a checkpoint's name: 2000 for `step-0002000.safetensors`.
fn step_of(path: &Path) -> Option<u64> {
    if path.extension()? != ENDING {
        return None;
    }
    let name = path.file_stem()?.to_str()?;
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let last = digits.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    last.parse().ok()
}
