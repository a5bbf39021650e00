//! Record files: a line for each game.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Adds a line to a file.
pub fn append_line(path: &Path, line: &str) -> Result<(), String> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
        .map_err(|error| error.to_string())
}

/// The last line of a file that is not empty: the latest game.
pub fn last_line(path: &Path) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.map(str::to_owned)
        .ok_or_else(|| "no game record is in it".to_owned())
}
