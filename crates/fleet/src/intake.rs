//! Files of games on their way into the run: from the server to the disk, then acknowledged, then to the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use rayon::prelude::*;

use super::game_file::GameFile;
use super::inbox::{Inbox, KeptName};
use super::{FleetError, Link};
use jarmo_core::encode::Encode;
use jarmo_core::net::GameVersion;
use jarmo_exact::tables::HasEndgames;
use jarmo_learn::observe::FleetReport;
use jarmo_learn::run::{Delivery, Seen};
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::{Counts, EpisodeReader, SelfPlaySettings};

/// Files of one request to the server: as few as this while the loop has enough, as many while it waits.
pub(super) const LEAST_BATCH: usize = 4;
pub(super) const MOST_BATCH: usize = 64;

/// How long a request waits for files.
const PATIENCE: Duration = Duration::from_secs(1);

/// The letters of a name that a worker gives itself.
const MOST_NAME: usize = 64;

/// The samples that wait on this machine at most, apart from those of one request. More would only be lost time when the
/// learner is killed; the server's queue holds the rest.
const MOST_WAITING: usize = 1 << 19;

/// After so many bad files of one key, the others of this key stay at the server. There they take all the room that the
/// key has, so that no more can come.
const MOST_BAD: u32 = 100;

/// How long they stay there before they are looked at again.
const STAY: Duration = Duration::from_secs(3600);

/// Files that have arrived, shared by the thread that takes them in and the loop.
#[derive(Default)]
pub(super) struct Arrivals {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ready: BTreeMap<KeptName, Delivery>,
    waiting: usize,             // samples in `ready`
    seen: Seen,                 // files that the loop has taken
    newest: u64,                // learning steps of the newest network that workers can have
    blocked: BTreeSet<String>,  // keys
    bad: BTreeMap<String, u32>, // files, by key
    counted: FleetReport,       // what was dropped, and all bytes
    warnings: Vec<String>,
}

impl Arrivals {
    /// Begins with the files that the loop has taken before.
    pub(super) fn begin(&self, seen: &Seen) {
        self.lock().seen = seen.clone();
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting() >= MOST_WAITING
    }

    /// The next file, in the order of arrival at the server.
    pub(super) fn take(&self) -> Option<Delivery> {
        let mut state = self.lock();
        let (_, delivery) = state.ready.pop_first()?;
        state.waiting -= delivery.samples.len();
        Some(delivery)
    }

    /// What was dropped, and the bytes of all files.
    pub(super) fn counted(&self) -> FleetReport {
        self.lock().counted.clone()
    }

    /// Adds a warning, unless the loop has not yet fetched the same one.
    pub(super) fn warn(&self, warning: String) {
        let warnings = &mut self.lock().warnings;
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().warnings)
    }

    /// From now on, workers can have networks of so many learning steps.
    pub(super) fn published(&self, step: u64) {
        let newest = &mut self.lock().newest;
        *newest = step.max(*newest);
    }

    fn add(&self, name: KeptName, delivery: Delivery) {
        let mut state = self.lock();
        state.waiting += delivery.samples.len();
        state.ready.insert(name, delivery);
    }

    /// What to do with a file before it is read.
    fn look_at(&self, name: &KeptName, bytes: usize, is_twice: bool) -> Glance {
        let KeptName { id, key, .. } = name;
        let mut state = self.lock();
        if state.blocked.contains(key) {
            state.counted.blocked += 1;
            return Glance::Drop;
        }
        if state.bad.get(key).is_some_and(|&bad| bad >= MOST_BAD) {
            return Glance::Leave;
        }
        state.counted.bytes += bytes as u64;
        let is_ready = state.ready.keys().any(|name| name.id == *id);
        if is_twice || is_ready || state.seen.contains(*id) {
            state.counted.duplicates += 1;
            return Glance::Drop;
        }
        Glance::Read
    }

    /// Counts a bad file.
    fn bad(&self, key: &str) {
        let mut state = self.lock();
        state.counted.bad += 1;
        let bad = state.bad.entry(key.to_owned()).or_default();
        *bad += 1;
        if *bad == MOST_BAD {
            state.warnings.push(format!(
                "{key} has sent {MOST_BAD} bad files; its files are left at the server until this run is started again; \
                 `fleet key revoke {key}` shuts it out"
            ));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics")
    }
}

/// What to do with a file before it is read.
enum Glance {
    Read,
    Drop,
    Leave,
}

/// Reads files, checks them, and keeps them.
pub(super) struct Intake {
    inbox: Inbox,
    check: Box<Check>,
    pub(super) arrivals: Arrivals,
}

/// Reads a file and checks all that can be checked. The newest network is of so many learning steps.
type Check = dyn Fn(&KeptName, &[u8], u64) -> Result<Delivery, FleetError> + Send + Sync;

impl Intake {
    pub(super) fn open<G: Encode + HasEndgames>(
        run: &str,
        game: &G,
        settings: &SelfPlaySettings,
        folder: &Path,
    ) -> Result<Intake, FleetError> {
        let (run, origin) = (run.to_owned(), GameVersion::of(game));
        let reader = EpisodeReader::new(game, settings);
        Ok(Intake {
            inbox: Inbox::open(folder)?,
            check: Box::new(move |name, bytes, newest| {
                let file = GameFile::from_bytes(bytes)?;
                let check = file.header.origin.check(&origin);
                check.map_err(FleetError::new)?;
                match file.header.run == run {
                    true => read_games(&reader, name, bytes.len(), file, newest),
                    false => Err(FleetError::new("it belongs to another run")),
                }
            }),
            arrivals: Arrivals::default(),
        })
    }

    /// Forgets the files that a checkpoint contains.
    pub(super) fn saved(&self) -> Result<(), FleetError> {
        let seen = self.arrivals.lock().seen.clone();
        self.inbox.forget(&seen)
    }

    /// Takes up the files that were acknowledged and are in no checkpoint.
    pub(super) fn resume(&self) -> Result<(), FleetError> {
        let mut kept = self.inbox.load()?;
        self.saved()?;
        let (seen, blocked) = {
            let state = self.arrivals.lock();
            (state.seen.clone(), state.blocked.clone())
        };
        kept.retain(|(name, _)| !seen.contains(name.id));
        for (name, bytes) in kept {
            // Files that were acknowledged were checked against the newest network of their time.
            match (self.check)(&name, &bytes, u64::MAX) {
                Ok(delivery) if !blocked.contains(&name.key) => self.arrivals.add(name, delivery),
                // The settings were changed since then, or the key was revoked.
                _ => self.inbox.remove(name.id)?,
            }
        }
        Ok(())
    }

    /// Drops what these keys sent, and all that they send from now on.
    pub(super) fn block(&self, keys: BTreeSet<String>) -> Result<(), FleetError> {
        let mut state = self.arrivals.lock();
        let keys: BTreeSet<String> = keys.difference(&state.blocked).cloned().collect();
        let dropped = state
            .ready
            .extract_if(.., |name, _| keys.contains(&name.key));
        let dropped: Vec<_> = dropped.collect();
        for (name, delivery) in dropped {
            state.waiting -= delivery.samples.len();
            state.counted.blocked += 1;
            self.inbox.remove(name.id)?;
        }
        for key in keys {
            state.warnings.push(format!(
                "{key} is blocked; order.jsonl names the files that it sent before"
            ));
            state.blocked.insert(key);
        }
        Ok(())
    }

    /// Takes in at most so many files: checks them on all threads, keeps them, and only then acknowledges them, all with
    /// one answer of the server. What cannot be kept comes again later.
    pub(super) fn fetch(
        &self,
        link: &Link,
        files: &PullConsumer,
        most: usize,
    ) -> Result<(), FleetError> {
        let messages = link.wait(async {
            let batch = files.batch().max_messages(most).expires(PATIENCE);
            let messages: Vec<_> = batch.messages().await?.collect().await;
            messages
                .into_iter()
                .collect::<Result<Vec<_>, async_nats::Error>>()
        })?;
        let mut new: Vec<(KeptName, &Message)> = Vec::new();
        let mut done = Vec::new();
        for message in &messages {
            let bytes = &message.payload;
            let name = KeptName {
                sequence: message.info().map_err(FleetError::new)?.stream_sequence,
                id: GameFile::id(bytes),
                key: sender(message).to_owned(),
            };
            let is_twice = new.iter().any(|(other, _)| other.id == name.id);
            match self.arrivals.look_at(&name, bytes.len(), is_twice) {
                Glance::Drop => done.push(message),
                Glance::Leave => link.wait(message.ack_with(AckKind::Nak(Some(STAY))))?,
                Glance::Read => new.push((name, message)),
            }
        }
        let newest = self.arrivals.lock().newest;
        let checked: Vec<_> = new
            .par_iter()
            .map(|(name, message)| (self.check)(name, &message.payload, newest))
            .collect();
        let (mut sound, mut kept) = (Vec::new(), Vec::new());
        for ((name, message), checked) in new.iter().zip(checked) {
            match checked {
                Ok(delivery) => {
                    sound.push((name, &*message.payload));
                    kept.push((name.clone(), delivery));
                }
                Err(problem) => self.put_away(name, &message.payload, &problem)?,
            }
            done.push(*message);
        }
        self.inbox.keep(&sound)?;
        let acknowledged = link.wait(acknowledge(&done));
        for (name, delivery) in kept {
            self.arrivals.add(name, delivery);
        }
        acknowledged
    }

    /// Puts a bad file into quarantine, and counts it.
    fn put_away(
        &self,
        name: &KeptName,
        bytes: &[u8],
        problem: &FleetError,
    ) -> Result<(), FleetError> {
        self.arrivals.bad(&name.key);
        let place = match self.inbox.quarantine(name.id, bytes) {
            Ok(Some(path)) => path.display().to_string(),
            Ok(None) => "quarantine is full; the file is not kept".to_owned(),
            Err(error) => return Err(FleetError::new(error)),
        };
        let key = &name.key;
        self.arrivals
            .warn(format!("a bad file of {key}: {problem} (kept as {place})"));
        Ok(())
    }
}

/// Plays the games of a file again.
fn read_games<G: Encode + HasEndgames>(
    reader: &EpisodeReader<G>,
    name: &KeptName,
    bytes: usize,
    file: GameFile,
    newest: u64,
) -> Result<Delivery, FleetError> {
    let mut samples = Samples::new();
    let mut counts = Counts::default();
    for (number, game) in file.games.iter().enumerate() {
        let wrong = |problem: String| FleetError::new(format!("game {number}: {problem}"));
        let read = reader.read(game, &mut samples, &mut counts);
        read.map_err(|error| wrong(error.to_string()))?;
        if game.weights > newest {
            return Err(wrong(format!(
                "it was played by a network of step {}, and the newest one is of step {newest}",
                game.weights
            )));
        }
        counts.positions += game.searches.len() as u64;
    }
    let weights = file.games.iter().map(|game| game.weights).min();
    Ok(Delivery {
        id: name.id,
        sequence: name.sequence,
        key: name.key.clone(),
        worker: file.header.worker.chars().take(MOST_NAME).collect(),
        weights: weights.ok_or_else(|| FleetError::new("it holds no games"))?,
        bytes: bytes as u64,
        samples,
        counts,
    })
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

/// The key that sent a file: the server lets a user publish under its own key alone.
fn sender(message: &Message) -> &str {
    message.subject.rsplit('.').next().unwrap_or_default()
}
