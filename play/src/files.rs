//! Record files, one game per line, and the folder of the user's data.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::analysis::record_line;
use crate::lang::Texts;
use crate::levels::Level;
use crate::session::Session;
use crate::words;
use jarmo_core::game::shorten;
use jarmo_exact::agent::with_checkpoint;
use jarmo_host::files::{LINES_BYTES, read_text};
use jarmo_host::record::GameRecord;

/// Appends the record of a session's game to a file. Returns a message about success or failure.
pub(crate) fn save(session: &Session, texts: &Texts, name: &str) -> String {
    match append_line(name.as_ref(), &record_line(session)) {
        Ok(()) => texts.fill("saved", &[("file", &name)]),
        Err(problem) => format!("{}: {problem}", shorten(name)),
    }
}

/// Loads the last game of a file; the error says why not.
pub(crate) fn load(session: &mut Session, texts: &Texts, name: &str) -> Result<(), String> {
    let record = last_record(name.as_ref());
    let loaded =
        record.and_then(|record| session.load(&record).map_err(|problem| words::record_problem(texts, &problem)));
    loaded.map_err(|problem| format!("{}: {problem}", shorten(name)))
}

/// Whether a line can be appended to a file. A missing file is not created.
pub(crate) fn check_appending(path: &Path) -> Result<(), String> {
    let exists = path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path).map(drop);
    let checked = if exists { opened } else { opened.and_then(|()| fs::remove_file(path)) };
    checked.map_err(|error| error.to_string())
}

/// A player by the name that a person types. A run stands for the agent file of one of its checkpoints.
pub(crate) fn player(who: &str) -> Result<String, String> {
    match who == "human" || Level::parse(who).is_some() {
        true => Ok(who.to_owned()),
        false => with_checkpoint(who).map_err(|error| error.to_string()),
    }
}

/// Appends a line to a file, which is created if missing.
pub(crate) fn append_line(path: &Path, line: &str) -> Result<(), String> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).map_err(|error| error.to_string())
}

/// The latest game of a file: its last line that is not blank.
pub(crate) fn last_record(path: &Path) -> Result<GameRecord, String> {
    let text = read_text(path, LINES_BYTES).map_err(|error| error.to_string())?;
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    GameRecord::parse(last.ok_or("the file contains no game record")?).map_err(|error| error.to_string())
}

/// The folder of this program's data of the user.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from);
    let base = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(set("HOME").or_else(|| set("USERPROFILE"))?.join(".local/share")));
    base.map(|base| base.join("jarmo"))
}
