//! Where a training run has its files, and how users specify a run.

use std::io;
use std::path::{Path, PathBuf};

use jarmo_core::error::FileError;

use crate::files::list;

/// The folder with the agent files, in the folder of a run.
pub const CHECKPOINTS: &str = "checkpoints";

/// The file with the metrics, in the folder of a run.
pub const METRICS: &str = "metrics.jsonl";

/// The file with the settings, in the folder of a run.
pub const CONFIG: &str = "config.toml";

/// The file that says how a run was started, in its folder.
pub const MANIFEST: &str = "manifest.toml";

/// The folders of runs below a folder, or the folder itself if it is one, by name. Links to folders are not followed, and
/// folders that cannot be read are left out, except this one.
pub fn find(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let has = |name: &str| folder.join(name).exists();
    if has(MANIFEST) || has(METRICS) || (has(CONFIG) && has(CHECKPOINTS)) {
        return Ok(vec![folder.to_owned()]);
    }
    let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let inner = list(folder)?.into_iter().filter(is_folder);
    let mut found: Vec<PathBuf> = inner.flat_map(|inner| find(&inner).unwrap_or_default()).collect();
    found.sort();
    Ok(found)
}

/// The path of the agent file of a step.
pub fn checkpoint(run: &Path, step: u64) -> PathBuf {
    let name = format!("step-{step:08}.safetensors");
    run.join(CHECKPOINTS).join(name)
}

/// The agent files of a run, oldest first; at least one. `run` is its folder, or any folder of agent files whose names end
/// in a step.
pub fn all_checkpoints(run: &Path) -> Result<Vec<(u64, PathBuf)>, FileError> {
    let inner = run.join(CHECKPOINTS);
    let folder = if inner.is_dir() { &inner } else { run };
    let found = checkpoints(folder).map_err(|problem| match problem.kind() {
        io::ErrorKind::NotFound => format!("there is no folder {}; specify the folder of a run", run.display()),
        _ => format!("{}: {problem}", folder.display()),
    })?;
    match found.is_empty() {
        false => Ok(found),
        true => Err(format!(
            "no checkpoints in {}: no agent file's name ends in a step; list other agent files one by one",
            folder.display()
        )
        .into()),
    }
}

/// The agent file of a run at a step, or the newest one.
pub fn checkpoint_at(run: &Path, step: Option<u64>) -> Result<(u64, PathBuf), FileError> {
    let mut found = all_checkpoints(run)?;
    let Some(step) = step else {
        return Ok(found.pop().expect("at least one"));
    };
    let steps: Vec<String> = found.iter().map(|(step, _)| step.to_string()).collect();
    let one = found.into_iter().find(|&(found, _)| found == step);
    one.ok_or_else(|| format!("no such step; the steps are {}", steps.join(", ")).into())
}

/// The folder and the step that a text names, if it names a run: `run:FOLDER@STEP`, `run:FOLDER` or a folder that exists.
pub fn named(text: &str) -> Result<Option<(&Path, Option<u64>)>, FileError> {
    let Some(rest) = text.strip_prefix("run:") else {
        let folder = Path::new(text);
        return Ok(folder.is_dir().then_some((folder, None)));
    };
    match rest.rsplit_once('@') {
        Some((folder, step)) if !Path::new(rest).is_dir() => {
            let step = step.parse().map_err(|_| "expected run:FOLDER@STEP".to_owned())?;
            Ok(Some((Path::new(folder), Some(step))))
        }
        _ => Ok(Some((Path::new(rest), None))),
    }
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
