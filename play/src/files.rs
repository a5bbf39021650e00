//! Record files, one game per line, and the folder of the user's data.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use jarmo_host::files::{LINES_BYTES, read_text};

/// Appends a line to a file, which is created if missing.
pub(crate) fn append_line(path: &Path, line: &str) -> Result<(), String> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).map_err(|error| error.to_string())
}

/// The last line of a file that is not blank: the latest game.
pub(crate) fn last_line(path: &Path) -> Result<String, String> {
    let text = read_text(path, LINES_BYTES).map_err(|error| error.to_string())?;
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.map(str::to_owned).ok_or_else(|| "the file holds no game record".to_owned())
}

/// The folder of this program's data of the user.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from);
    let base = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(set("HOME").or_else(|| set("USERPROFILE"))?.join(".local/share")));
    base.map(|base| base.join("jarmo"))
}
