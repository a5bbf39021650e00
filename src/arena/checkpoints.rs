//! Runs on the command line: a directory stands for the checkpoints in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::standings::Checkpoint;
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
    let (run, step) = match named.and_then(|rest| rest.rsplit_once('@')) {
        Some((run, step)) => {
            let parsed = step.parse::<u64>();
            let parsed = parsed.map_err(|_| error(text, "expected run:DIRECTORY@STEP"))?;
            (run, Some(parsed))
        }
        None => (named.unwrap_or(head), None),
    };
    let run = Path::new(run);
    if named.is_none() && !run.is_dir() {
        return Ok(vec![Expanded {
            spec: text.to_owned(),
            checkpoint: None,
        }]);
    }
    let found = list(run).map_err(|problem| error(text, &problem.to_string()))?;
    if found.is_empty() {
        let problem = format!(
            "no checkpoints in {}: no file ends in its step and .{ENDING}",
            run.display()
        );
        return Err(error(text, &problem));
    }
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
    let expanded = |(step, path): (u64, PathBuf)| Expanded {
        spec: format!("{}{settings}", path.display()),
        checkpoint: Some(Checkpoint {
            run: run.display().to_string(),
            step,
        }),
    };
    Ok(chosen.into_iter().rev().map(expanded).collect())
}

fn error(text: &str, problem: &str) -> ArenaError {
    ArenaError::new(format!("agent `{text}`: {problem}"))
}

/// The checkpoints of a run, or of a directory of them, by step.
fn list(run: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let inner = run.join(FOLDER);
    let folder = if inner.is_dir() {
        inner
    } else {
        run.to_owned()
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some(step) = step_of(&path) {
            found.push((step, path));
        }
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
