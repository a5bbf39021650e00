//! Saved games of two people, one file each, so that they survive a restart. If there are too many, the least recently
//! used game is deleted: one of the same creator, or of the creator that has the most.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::duel::Duel;
use super::room::{Inside, ServerLimits, is_id, lock};
use crate::lang::Language;
use crate::machine::fresh_seed;
use crate::session::Session;
use jarmo_core::checksum::{sealed_line, sound_line};
use jarmo_host::files::{list, read, write_whole_by};
use jarmo_session::page::{Defaults, Opening};

/// A game that nobody has used for this time is removed.
const OLDEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// The precision with which the disk records when a game was used.
const USE: Duration = Duration::from_secs(1);

/// The most bytes of a file: a game has at most 2000 moves.
const MOST_BYTES: u64 = 1 << 18;

/// An upper bound for the number in a file, from which further games are numbered.
const MOST_NUMBER: u64 = 1 << 32;

/// The folder of the games.
pub(super) struct Saved {
    folder: PathBuf,
    most: usize,
    per_creator: usize,
    games: Mutex<HashMap<String, Entry>>, // by id
}

struct Entry {
    creator: IpAddr,
    used: SystemTime,
}

/// The content of a file: a line of JSON with its checksum.
#[derive(Serialize, Deserialize)]
struct Content {
    record: String,
    number: u64,
    duel: Duel,
}

/// What is to be written for a game, and its creator; `None` for a game that is not one of two people.
pub(super) fn content(inside: &Inside) -> Option<(IpAddr, String)> {
    let Inside { session, duel, .. } = inside;
    let (record, duel) = (session.record().to_line(), duel.clone()?);
    let content = Content { record, number: session.number, duel };
    let line = serde_json::to_string(&content).expect("a saved game is plain data");
    Some((content.duel.creator, sealed_line(&line)))
}

impl Saved {
    /// The games of a folder. Those that are too old are removed; files that are damaged or of an earlier program are no
    /// games, and stay until then.
    pub(super) fn new(folder: PathBuf, bounds: &ServerLimits) -> Saved {
        let mut games = HashMap::new();
        for path in list(&folder).unwrap_or_default() {
            let used = fs::metadata(&path).and_then(|about| about.modified());
            let used = used.unwrap_or_else(|_| SystemTime::now());
            let ending = path.extension().and_then(|ending| ending.to_str());
            let id = path.file_stem().and_then(|id| id.to_str()).filter(|id| is_id(id));
            if used.elapsed().is_ok_and(|age| age > OLDEST) && matches!(ending, Some("json" | "tmp")) {
                let _ = fs::remove_file(&path); // the next start tries again
            } else if let (Some(id), Some(content)) = (id, load(&path)) {
                games.insert(id.to_owned(), Entry { creator: content.duel.creator, used });
            }
        }
        Saved { folder, most: bounds.kept, per_creator: bounds.per_address, games: Mutex::new(games) }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// The game with this id, if there is one.
    pub(super) fn read(&self, id: &str, defaults: &Defaults) -> Option<(Session, Duel)> {
        let Content { record, number, mut duel } = load(&self.file(id))?;
        let session = Opening::of_two(record).begin(defaults, Language::En.texts(), fresh_seed());
        let mut session = session.ok()?;
        session.number = number;
        duel.kept = true;
        Some((session, duel))
    }

    /// Writes a game. Returns whether that was possible, and the games that were removed to make room.
    pub(super) fn write(&self, id: &str, creator: IpAddr, content: &str) -> (bool, Vec<String>) {
        let mut games = lock(&self.games);
        let mut removed = Vec::new();
        games.remove(id);
        while let Some(other) = self.superfluous(&games, creator) {
            games.remove(&other);
            let _ = fs::remove_file(self.file(&other)); // otherwise it is found at the next start
            removed.push(other);
        }
        games.insert(id.to_owned(), Entry { creator, used: SystemTime::now() });
        drop(games);
        let written = write_private(&self.file(id), content.as_bytes()).is_ok();
        if !written {
            lock(&self.games).remove(id);
        }
        (written, removed)
    }

    /// The game that has to go before another one of this creator comes, if one has to.
    fn superfluous(&self, games: &HashMap<String, Entry>, creator: IpAddr) -> Option<String> {
        let mut held: HashMap<IpAddr, usize> = HashMap::new();
        for game in games.values() {
            *held.entry(game.creator).or_default() += 1;
        }
        let own = held.get(&creator).is_some_and(|&own| own >= self.per_creator);
        if !own && games.len() < self.most {
            return None;
        }
        let among = games.iter().filter(|(_, game)| !own || game.creator == creator);
        let first = among.max_by_key(|(_, game)| (held[&game.creator], Reverse(game.used)));
        first.map(|(id, _)| id.clone())
    }

    /// Notes that a game is in use.
    pub(super) fn touch(&self, id: &str) {
        if let Some(game) = lock(&self.games).get_mut(id) {
            let now = SystemTime::now();
            if now.duration_since(game.used).is_ok_and(|age| age > USE) {
                // A time that is not written counts until the server ends.
                let _ = File::open(self.file(id)).and_then(|file| file.set_modified(now));
            }
            game.used = now;
        }
    }
}

/// The content of a file, if it is undamaged.
fn load(path: &Path) -> Option<Content> {
    let bytes = read(path, MOST_BYTES).ok()?;
    let content: Content = serde_json::from_str(sound_line(&bytes)?).ok()?;
    (content.number < MOST_NUMBER).then_some(content)
}

/// Writes a file that only its owner can read, into a folder that only its owner can enter. Systems other than Unix have
/// rights of their own.
fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().expect("a file of the folder");
    fs::create_dir_all(folder)?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let _ = fs::remove_file(&temporary); // it may have other rights
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        options.mode(0o600);
    }
    options.open(&temporary)?;
    write_whole_by(path, &temporary, &[content])
}
