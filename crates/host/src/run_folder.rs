//! Where the files of a training run lie.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::list;

/// The folder of the agent files in a run's folder.
pub const CHECKPOINTS: &str = "checkpoints";

/// The metrics file in a run's folder.
pub const METRICS: &str = "metrics.jsonl";

/// The agent file of a step.
pub fn checkpoint(run: &Path, step: u64) -> PathBuf {
    let name = format!("step-{step:08}.safetensors");
    run.join(CHECKPOINTS).join(name)
}

/// The agent files in a folder whose names end in a step, oldest first.
pub fn checkpoints(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let paths = list(folder)?.into_iter();
    let mut found: Vec<_> = paths.filter_map(|path| Some((step_of(&path)?, path))).collect();
    found.sort();
    Ok(found)
}

/// The number at the end of a checkpoint's name: 2000 for `step-0002000.safetensors`.
fn step_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_suffix(".safetensors")?;
    let before = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    name[before.len()..].parse().ok()
}
