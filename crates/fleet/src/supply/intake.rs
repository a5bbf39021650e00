//! Files of games on their way into the run: from the server to the disk, then acknowledged, then to the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use futures_util::TryStreamExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Shared;
use super::exam::{Found, sample};
use super::share::Shares;
use crate::game_file::FILE_SAMPLES;
use crate::places::{BLOCKED, read_value, sender};
use crate::status::plain;
use crate::{FleetError, GameFile, MOST_BYTES, json, lock};
use jarmo_core::net::FrozenNet;
use jarmo_facade::AnyGame;
use jarmo_host::files::{list, read, remove_leftovers, write_whole};
use jarmo_learn::observe::FleetReport;
use jarmo_learn::run::{Delivery, FileId, Seen, Sent};
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::{Counts, SelfPlaySettings};

const INBOX: &str = "inbox";
const QUARANTINE: &str = "quarantine";
const ENDING: &str = "games";

const MOST_QUARANTINED: usize = 1000; // files; later ones are counted and named, and not kept
const MOST_BATCH: usize = 64; // files that are taken in together

/// The most bytes of a batch in the inbox: its files, and a line that says what they are.
const MOST_BATCH_BYTES: u64 = (MOST_BATCH * MOST_BYTES) as u64 + (1 << 16);

/// A file has at most this many samples, plus those of one more game.
const MOST_SAMPLES: usize = 2 * FILE_SAMPLES;
const MOST_TEXT: usize = 256; // bytes of the names in a file
const MOST_ASKED: usize = 64; // positions of a key that wait to be searched again

const PATIENCE: Duration = Duration::from_secs(1); // of a request for files

/// After this many bad files of one key, its other files stay at the server for this long. There they use up the room
/// of the key, so it cannot send more.
const MOST_BAD: u32 = 100;
const STAY: Duration = Duration::from_secs(3600);

/// Files of a key beyond its share stay at the server for this long.
const WAIT: Duration = Duration::from_secs(10);

/// Files that have arrived, shared by the threads that take them in and the loop.
#[derive(Default)]
pub(super) struct Arrivals {
    pub(super) ready: BTreeMap<(u64, FileId), Delivery>, // in the order of arrival at the server
    pub(super) waiting: usize,                           // samples in `ready`
    pub(super) seen: Seen,                               // files that the loop has taken
    pub(super) newest: u64,                              // training steps of the newest network that workers can have
    claimed: BTreeMap<FileId, FileId>,                   // games of files that are checked or ready, with their files
    pub(super) networks: BTreeMap<u64, FrozenNet>,       // some that workers can have, by their steps
    pub(super) asked: BTreeMap<String, (u64, Vec<Found>)>, // of the newest files of a key, with their oldest weights
    blocked: BTreeSet<String>,                           // keys
    shunned: BTreeSet<String>,                           // keys, until the learner is started again
    shares: Shares,                                      // of the newest samples
    slowed: BTreeSet<String>,                            // keys that have exceeded their share
    bad: BTreeMap<String, u32>,                          // files, by key
    pub(super) report: FleetReport,
    pub(super) warnings: Vec<String>,
}

impl Arrivals {
    /// Nothing has arrived yet. `capacity` is that of the replay buffer, in samples.
    pub(super) fn new(capacity: usize) -> Arrivals {
        Arrivals { shares: Shares::new(capacity), ..Arrivals::default() }
    }

    /// Adds a warning, unless the loop has not yet fetched the same one.
    pub(super) fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Whether a file has arrived before.
    fn has(&self, id: FileId) -> bool {
        self.seen.contains_key(&id) || self.ready.keys().any(|(_, ready)| *ready == id)
    }

    /// Whether a game is new. It then belongs to this file, even if the file arrives again.
    fn claim(&mut self, game: FileId, file: FileId) -> bool {
        let is_new = !self.seen.contains_key(&game) && *self.claimed.entry(game).or_insert(file) == file;
        self.report.repeated += u64::from(!is_new);
        is_new
    }

    /// Gives up the games of a file.
    fn release(&mut self, file: FileId) {
        self.claimed.retain(|_, of| *of != file);
    }

    /// Whether a file is taken now; not if its key has exceeded its share of the newest samples.
    fn admit(&mut self, delivery: &Delivery, share: f64) -> bool {
        let Sent { id, key, .. } = &delivery.sent;
        if !self.shares.admit(key, delivery.samples.len(), share) {
            self.release(*id);
            if self.slowed.insert(key.clone()) {
                let most = 100.0 * share;
                self.warn(format!(
                    "{key} has sent {most:.0}% of the newest samples (fleet.share); its next files wait"
                ));
            }
            return false;
        }
        true
    }

    /// Takes the next file.
    pub(super) fn take(&mut self) -> Option<Delivery> {
        let (_, delivery) = self.ready.pop_first()?;
        self.waiting -= delivery.samples.len();
        let Delivery { sent, games, .. } = &delivery;
        for game in games {
            self.claimed.remove(game);
        }
        self.seen.extend(games.iter().chain([&sent.id]).map(|name| (*name, sent.weights)));
        Some(delivery)
    }

    /// Adds a file, unless it has arrived before. Another thread may have checked the same file at the same time.
    fn add(&mut self, delivery: Delivery) {
        if self.has(delivery.sent.id) {
            self.report.duplicates += 1;
            return;
        }
        self.waiting += delivery.samples.len();
        self.ready.insert((delivery.sent.sequence, delivery.sent.id), delivery);
    }
}

/// Reads a file, checks everything that can be checked, and leaves out games that are not new. The number is the training
/// step of the newest network; a file of the inbox has none, because it was checked against that of its time.
pub(super) type Check = dyn Fn(&KeptName, &[u8], Option<u64>, &dyn Fn(FileId) -> bool) -> Result<(Delivery, Vec<Found>), FleetError>
    + Send
    + Sync;

/// Plays the games of a file again, which must be of this run.
pub(super) fn check(run: &str, game: &dyn AnyGame, settings: &SelfPlaySettings) -> Box<Check> {
    let (run, origin, reader) = (run.to_owned(), game.facts().version.clone(), game.read_episodes(settings));
    Box::new(move |name, bytes, newest, is_new| {
        let file = GameFile::from_bytes(bytes)?;
        file.origin.check(&origin).map_err(FleetError::new)?;
        if file.worker.len().max(file.program.len()) > MOST_TEXT {
            return Err(FleetError::new(format!("its worker or its program has more than {MOST_TEXT} letters")));
        }
        if file.run != run {
            return Err(FleetError::new("it belongs to another run"));
        }
        let (mut samples, mut counts, mut games) = (Samples::new(), Counts::default(), BTreeSet::new());
        let mut taken = Vec::new();
        for (number, game) in file.games.iter().enumerate() {
            let wrong = |problem: String| FleetError::new(format!("game {number}: {problem}"));
            let weights = game.weights;
            if let Some(newest) = newest.filter(|newest| weights > *newest) {
                return Err(wrong(format!(
                    "it was played by a network of step {weights}, and the newest one is of step {newest}"
                )));
            }
            if samples.len() >= MOST_SAMPLES {
                return Err(FleetError::new(format!("it has more than {MOST_SAMPLES} samples")));
            }
            let id = GameFile::game_id(game);
            if !is_new(id) || !games.insert(id) {
                continue;
            }
            reader(game, &mut samples, &mut counts).map_err(|error| wrong(error.to_string()))?;
            counts.positions += game.searches.len() as u64;
            taken.push(game);
        }
        let weights = file.games.iter().map(|game| game.weights).min();
        let weights = weights.ok_or_else(|| FleetError::new("it contains no games"))?;
        let KeptName { id, sequence, key } = name.clone();
        let sent = Sent { id, sequence, key, worker: plain(&file.worker), weights };
        let found = sample(&taken); // nobody has checked the other games, if they came with a file that is checked now
        let games = games.into_iter().collect();
        Ok((Delivery { sent, games, bytes: bytes.len() as u64, samples, counts }, found))
    })
}

impl Shared {
    /// Forgets the files that a checkpoint contains.
    pub(super) fn saved(&self, seen: &Seen) -> Result<(), FleetError> {
        self.arrivals().seen = seen.clone();
        self.inbox.retain(|id| !seen.contains_key(&id))
    }

    /// Restores the files that were acknowledged but are not in a checkpoint.
    pub(super) fn resume(&self, seen: &Seen) -> Result<(), FleetError> {
        let kept = self.inbox.load(|copy| {
            self.warn(format!("{}: damaged; what can be read of it was taken in", copy.display()));
        })?;
        self.saved(seen)?;
        for (name, bytes) in kept {
            if seen.contains_key(&name.id) {
                continue;
            }
            match self.check(&name, &bytes, None) {
                Ok((delivery, _)) if !self.arrivals().blocked.contains(&name.key) => self.arrivals().add(delivery),
                Ok(_) => self.inbox.retain(|id| id != name.id)?,
                Err(problem) => {
                    let place = self.quarantine(name.id, &bytes)?;
                    self.warn(format!("an acknowledged file no longer fits the run: {problem} ({place})"));
                    self.inbox.retain(|id| id != name.id)?;
                }
            }
        }
        Ok(())
    }

    /// Checks a file. A bad one has no claim to its games.
    fn check(&self, name: &KeptName, bytes: &[u8], newest: Option<u64>) -> Result<(Delivery, Vec<Found>), FleetError> {
        let checked = (self.check)(name, bytes, newest, &|game| self.arrivals().claim(game, name.id));
        checked.inspect_err(|_| self.arrivals().release(name.id))
    }

    /// Drops the files of revoked keys, now and from now on.
    pub(super) fn block_revoked(&self) -> Result<(), FleetError> {
        let Some(keys) = read_value(&self.link, BLOCKED)? else {
            return Ok(());
        };
        let arrivals = &mut *self.arrivals();
        let mut keys: BTreeSet<String> = serde_json::from_slice(&keys).unwrap_or_else(|error| {
            arrivals
                .warn(format!("the list of revoked keys cannot be read: {error}; `fleet key revoke` writes it again"));
            BTreeSet::new()
        });
        keys.retain(|key| !arrivals.blocked.contains(key));
        for key in keys {
            arrivals.warn(format!("{key} is blocked; order.jsonl names the files that it sent before"));
            self.drop_files(arrivals, &key)?;
            arrivals.blocked.insert(key);
        }
        Ok(())
    }

    /// Drops the files of a key that the run has not taken.
    fn drop_files(&self, arrivals: &mut Arrivals, key: &str) -> Result<(), FleetError> {
        for (_, delivery) in arrivals.ready.extract_if(.., |_, delivery| delivery.sent.key == key) {
            arrivals.waiting -= delivery.samples.len();
            arrivals.report.blocked += 1;
            arrivals.claimed.retain(|_, file| *file != delivery.sent.id);
            self.inbox.retain(|id| id != delivery.sent.id)?;
        }
        Ok(())
    }

    /// Takes no more files of a key until the learner is started again.
    pub(super) fn shun(&self, key: &str, why: &str) -> Result<(), FleetError> {
        let arrivals = &mut *self.arrivals();
        if arrivals.shunned.insert(key.to_owned()) {
            arrivals.warn(format!(
                "{key}: {why}; its files are left at the server until this run is started again; `fleet key revoke {key}` \
                 shuts it out"
            ));
        }
        self.drop_files(arrivals, key)
    }

    /// Takes in the waiting files, or the next one. Checks them on all threads, stores them, and only then acknowledges
    /// them, all with one answer of the server. Files that cannot be stored are delivered again later. Several threads
    /// can do this, so that one checks files while another waits for the disk.
    pub(super) fn take_in(&self) -> Result<(), FleetError> {
        let messages: Vec<Message> = self.link.wait(async {
            let there = self.places.files.fetch().max_messages(MOST_BATCH).expires(PATIENCE);
            there.messages().await?.try_collect().await
        })?;
        let (mut new, mut left, mut done) = (Vec::new(), Vec::new(), Vec::new());
        for message in &messages {
            let sequence = message.info().map_err(FleetError::new)?.stream_sequence;
            let name = KeptName { sequence, id: GameFile::id(&message.payload), key: sender(message).to_owned() };
            let arrivals = &mut *self.arrivals();
            if arrivals.blocked.contains(&name.key) {
                arrivals.report.blocked += 1;
                done.push(message);
            } else if arrivals.shunned.contains(&name.key) {
                left.push((message, STAY));
            } else {
                arrivals.report.bytes += message.payload.len() as u64;
                if arrivals.has(name.id) {
                    arrivals.report.duplicates += 1;
                    done.push(message);
                } else {
                    new.push((name, message));
                }
            }
        }
        let newest = Some(self.arrivals().newest);
        let checked: Vec<_> =
            new.par_iter().map(|(name, message)| self.check(name, &message.payload, newest)).collect();
        let mut sound = Vec::new();
        for ((name, message), checked) in new.iter().zip(checked) {
            match checked {
                Ok((delivery, _)) if delivery.games.is_empty() => self.arrivals().report.duplicates += 1,
                Ok((delivery, _)) if !self.arrivals().admit(&delivery, self.share) => {
                    left.push((*message, WAIT));
                    continue;
                }
                Ok((delivery, found)) => {
                    if !found.is_empty() {
                        let weights = delivery.sent.weights;
                        let arrivals = &mut *self.arrivals();
                        let asked = arrivals.asked.entry(name.key.clone()).or_insert((weights, Vec::new()));
                        asked.0 = asked.0.min(weights);
                        asked.1.extend(found);
                        let old = asked.1.len().saturating_sub(MOST_ASKED);
                        asked.1.drain(..old);
                    }
                    sound.push(((name, &*message.payload), delivery));
                }
                Err(problem) => self.put_away(name, &message.payload, &problem)?,
            }
            done.push(*message);
        }
        for (message, time) in left {
            self.link.wait(message.ack_with(AckKind::Nak(Some(time))))?;
        }
        let (files, deliveries): (Vec<_>, Vec<_>) = sound.into_iter().unzip();
        self.inbox.keep(&files)?;
        let acknowledged = self.link.wait(acknowledge(&done));
        let mut arrivals = self.arrivals();
        deliveries.into_iter().for_each(|delivery| arrivals.add(delivery));
        acknowledged
    }

    /// Puts a file into quarantine. Returns what became of it, for a warning.
    fn quarantine(&self, id: FileId, bytes: &[u8]) -> Result<String, FleetError> {
        let folder = &self.inbox.quarantine;
        if list(folder).map_err(FleetError::at(folder))?.len() >= MOST_QUARANTINED {
            return Ok("quarantine is full; the file is not kept".to_owned());
        }
        let path = folder.join(format!("{id}.{ENDING}"));
        write_whole(&path, bytes).map_err(FleetError::at(&path))?;
        Ok(format!("kept as {}", path.display()))
    }

    /// Puts a bad file into quarantine, and counts it.
    fn put_away(&self, KeptName { id, key, .. }: &KeptName, bytes: &[u8], why: &FleetError) -> Result<(), FleetError> {
        let place = self.quarantine(*id, bytes)?;
        let bad = {
            let arrivals = &mut *self.arrivals();
            arrivals.warn(format!("a bad file of {key}: {why} ({place})"));
            arrivals.report.bad += 1;
            let bad = arrivals.bad.entry(key.clone()).or_default();
            *bad += 1;
            *bad
        };
        match bad {
            MOST_BAD => self.shun(key, &format!("it has sent {MOST_BAD} bad files")),
            _ => Ok(()),
        }
    }
}

/// Acknowledges files. The server's answer to the last one holds for all, because it reads them in their order.
async fn acknowledge(messages: &[&Message]) -> Result<(), async_nats::Error> {
    let Some((last, others)) = messages.split_last() else {
        return Ok(());
    };
    for message in others {
        message.ack().await?;
    }
    last.double_ack().await
}

/// The two folders, inside the folder of the run. The files that arrive together are one file in the inbox, so that they
/// are synced together. Its first line says what they are.
pub(super) struct Inbox {
    inbox: PathBuf,
    quarantine: PathBuf,
    batches: Mutex<BTreeMap<PathBuf, BTreeSet<FileId>>>, // with the files that the next learner wants if this one is killed
}

/// A file in the inbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeptName {
    sequence: u64, // its number in the order of arrival at the server
    id: FileId,
    key: String, // that sent it
}

impl Inbox {
    /// Opens the folders, and makes them if necessary.
    pub(super) fn open(run: &Path) -> Result<Inbox, FleetError> {
        let inbox = run.join(INBOX);
        let quarantine = run.join(QUARANTINE);
        for folder in [&inbox, &quarantine] {
            let made = fs::create_dir_all(folder).and_then(|()| remove_leftovers(folder));
            made.map_err(FleetError::at(folder))?;
        }
        Ok(Inbox { inbox, quarantine, batches: Mutex::default() })
    }

    /// Writes and syncs the files of a batch.
    fn keep(&self, files: &[(&KeptName, &[u8])]) -> Result<(), FleetError> {
        let Some((KeptName { sequence, id, .. }, _)) = files.first() else {
            return Ok(());
        };
        let path = self.inbox.join(format!("{sequence:012}-{id}.{ENDING}"));
        let held: Vec<_> = files.iter().map(|(name, bytes)| (name, bytes.len())).collect();
        let held = json(&held) + "\n";
        let mut parts = vec![held.as_bytes()];
        parts.extend(files.iter().map(|(_, bytes)| *bytes));
        write_whole(&path, &parts.concat()).map_err(FleetError::at(&path))?;
        let wanted = files.iter().map(|(name, _)| name.id).collect();
        lock(&self.batches).insert(path, wanted);
        Ok(())
    }

    /// The files with their content, in no particular order. A copy of a damaged batch goes into the quarantine, and
    /// `damaged` is told where.
    fn load(&self, mut damaged: impl FnMut(&Path)) -> Result<Vec<(KeptName, Vec<u8>)>, FleetError> {
        let mut kept = Vec::new();
        for path in list(&self.inbox).map_err(FleetError::at(&self.inbox))? {
            if path.extension().is_none_or(|ending| ending != ENDING) {
                continue;
            }
            let bytes = read(&path, MOST_BATCH_BYTES).map_err(FleetError::at(&path))?;
            let found = files_of(&bytes);
            // They were whole when they were acknowledged, so the disk has lost the others.
            let is_whole = |(name, bytes): &(KeptName, Vec<u8>)| GameFile::id(bytes) == name.id;
            if !found.as_ref().is_some_and(|files| files.iter().all(is_whole)) {
                let place = self.quarantine.join(path.file_name().expect("it is a file of the inbox"));
                write_whole(&place, &bytes).map_err(FleetError::at(&place))?;
                damaged(&place);
            }
            let mut files = found.unwrap_or_default();
            files.retain(is_whole);
            let wanted = files.iter().map(|(name, _)| name.id).collect();
            lock(&self.batches).insert(path, wanted);
            kept.extend(files);
        }
        Ok(kept)
    }

    /// Forgets files that are no longer wanted, and deletes the batches of which none is.
    fn retain(&self, is_wanted: impl Fn(FileId) -> bool) -> Result<(), FleetError> {
        let mut batches = lock(&self.batches);
        let unwanted = batches.extract_if(.., |_, wanted| {
            wanted.retain(|&id| is_wanted(id));
            wanted.is_empty()
        });
        for (path, _) in unwanted {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(FleetError::at(&path)(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The files of a batch.
fn files_of(batch: &[u8]) -> Option<Vec<(KeptName, Vec<u8>)>> {
    let end = batch.iter().position(|&byte| byte == b'\n')?;
    let held: Vec<(KeptName, usize)> = serde_json::from_slice(&batch[..end]).ok()?;
    let mut rest = &batch[end + 1..];
    let mut files = Vec::new();
    for (name, bytes) in held {
        let (file, behind) = rest.split_at_checked(bytes)?;
        files.push((name, file.to_vec()));
        rest = behind;
    }
    Some(files)
}

#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
#[cfg(test)]
mod tests;
