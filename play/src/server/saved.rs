//! Games of two people on disk, one file each, so that they outlive the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::ServerOptions;
use super::duel::Duel;
use super::room::Inside;
use crate::lang::Language;
use crate::machine::fresh_seed;
use crate::session::Session;
use jarmo_host::files::{SETTINGS_BYTES, read_text, write_whole};
use jarmo_session::page::Opening;

/// A game that nobody has changed for this time is removed.
const OLDEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// Games kept at once; more are played, but end with the server.
const MOST: usize = 2000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    record: String,
    number: u64,
    duel: Duel,
}

/// Removes games that are too old.
pub(super) fn clean(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let changed = file.metadata().and_then(|about| about.modified());
        let is_old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > OLDEST);
        let is_saved = file.path().extension().is_some_and(|ending| ending == "json");
        if is_saved && changed.is_ok_and(is_old) {
            let _ = fs::remove_file(file.path()); // the next start tries again
        }
    }
}

fn file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}

/// What is to be written for a game; `None` for a game that is not one of two people.
pub(super) fn content(inside: &Inside) -> Option<String> {
    let saved =
        Saved { record: inside.session.record().to_line(), number: inside.session.number, duel: inside.duel.clone()? };
    Some(serde_json::to_string(&saved).expect("a saved game is plain data"))
}

/// Writes a game. Without room on the disk it is played all the same.
pub(super) fn write(folder: &Path, id: &str, content: &str) {
    let file = file(folder, id);
    let full = || fs::read_dir(folder).is_ok_and(|files| files.count() >= MOST);
    if file.exists() || !full() {
        let _ = fs::create_dir_all(folder).and_then(|()| write_whole(&file, content.as_bytes()));
    }
}

/// The game with this id, if there is one.
pub(super) fn read(id: &str, options: &ServerOptions) -> Option<(Session, Duel)> {
    let is_id = id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit());
    let file = options.folder.as_ref().filter(|_| is_id).map(|folder| file(folder, id))?;
    let text = file.exists().then(|| read_text(&file, SETTINGS_BYTES).ok())??;
    let saved: Saved = serde_json::from_str(&text).ok()?;
    let opening = Opening::of_two(saved.record);
    let session = opening.begin(&options.defaults, Language::En.texts(), fresh_seed());
    let mut session = session.ok()?;
    session.number = saved.number;
    Some((session, saved.duel))
}
