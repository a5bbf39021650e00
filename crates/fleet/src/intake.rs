//! Files of games on their way into the run: from the server to the disk, then acknowledged, then to the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::TryStreamExt;
use rayon::prelude::*;

use super::game_file::GameFile;
use super::inbox::{Inbox, KeptName, MOST_BATCH};
use super::places::sender;
use super::progress::plain;
use super::{FleetError, Link, lock};
use jarmo_core::encode::Encode;
use jarmo_core::net::GameVersion;
use jarmo_exact::tables::HasEndgames;
use jarmo_learn::observe::FleetReport;
use jarmo_learn::run::{Delivery, FileId, Seen};
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::{Counts, EpisodeReader, SelfPlaySettings};

/// How long a request waits for a file.
const PATIENCE: Duration = Duration::from_secs(1);

/// The samples that wait on this machine at most, apart from those of requests under way. More would only be lost time
/// when the learner is killed; the server's queue holds the rest.
const MOST_WAITING: usize = 1 << 19;

/// After so many bad files of one key, the others of this key stay at the server. There they take all the room that the
/// key has, so that no more can come.
const MOST_BAD: u32 = 100;

/// How long they stay there before they are looked at again.
const STAY: Duration = Duration::from_secs(3600);

/// Files that have arrived, shared by the thread that takes them in and the loop.
#[derive(Default)]
pub(super) struct Arrivals {
    ready: BTreeMap<(u64, FileId), Delivery>, // in the order of arrival at the server
    pub(super) waiting: usize,                // samples in `ready`
    in_hand: BTreeSet<FileId>,                // files that are being checked and kept
    pub(super) seen: Seen,                    // files that the loop has taken
    newest: u64,                              // learning steps of the newest network that workers can have
    blocked: BTreeSet<String>,                // keys
    bad: BTreeMap<String, u32>,               // files, by key
    pub(super) report: FleetReport,
    pub(super) warnings: Vec<String>,
}

impl Arrivals {
    pub(super) fn is_full(&self) -> bool {
        self.waiting >= MOST_WAITING
    }

    /// The next file, in the order of arrival at the server.
    pub(super) fn take(&mut self) -> Option<Delivery> {
        let (_, delivery) = self.ready.pop_first()?;
        self.waiting -= delivery.samples.len();
        Some(delivery)
    }

    /// Adds a warning, unless the loop has not yet fetched the same one.
    pub(super) fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// From now on, workers can have networks of so many learning steps.
    pub(super) fn published(&mut self, step: u64) {
        self.newest = step.max(self.newest);
    }

    fn add(&mut self, delivery: Delivery) {
        self.waiting += delivery.samples.len();
        self.ready.insert((delivery.sequence, delivery.id), delivery);
    }

    /// What to do with a file before it is read.
    fn look_at(&mut self, name: &KeptName, bytes: usize) -> Glance {
        let KeptName { id, key, .. } = name;
        if self.blocked.contains(key) {
            self.report.blocked += 1;
            return Glance::Drop;
        }
        if self.bad.get(key).is_some_and(|&bad| bad >= MOST_BAD) {
            return Glance::Leave;
        }
        self.report.bytes += bytes as u64;
        let is_ready = || self.ready.keys().any(|(_, ready)| ready == id);
        if is_ready() || self.seen.contains(*id) || !self.in_hand.insert(*id) {
            self.report.duplicates += 1;
            return Glance::Drop;
        }
        Glance::Read
    }

    /// Counts a bad file.
    fn bad(&mut self, key: &str) {
        self.report.bad += 1;
        let bad = self.bad.entry(key.to_owned()).or_default();
        *bad += 1;
        if *bad == MOST_BAD {
            self.warnings.push(format!(
                "{key} has sent {MOST_BAD} bad files; its files are left at the server until this run is started again; \
                 `fleet key revoke {key}` shuts it out"
            ));
        }
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
    arrivals: Mutex<Arrivals>,
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
            arrivals: Mutex::default(),
        })
    }

    pub(super) fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        lock(&self.arrivals)
    }

    /// Forgets the files that a checkpoint contains.
    pub(super) fn saved(&self) -> Result<(), FleetError> {
        let seen = self.arrivals().seen.clone();
        self.inbox.retain(|id| !seen.contains(id))
    }

    /// Takes up the files that were acknowledged and are in no checkpoint.
    pub(super) fn resume(&self) -> Result<(), FleetError> {
        let kept = self.inbox.load()?;
        self.saved()?;
        for (name, bytes) in kept {
            let mut arrivals = self.arrivals();
            if arrivals.seen.contains(name.id) {
                continue;
            }
            // Files that were acknowledged were checked against the newest network of their time.
            match (self.check)(&name, &bytes, u64::MAX) {
                Ok(delivery) if !arrivals.blocked.contains(&name.key) => arrivals.add(delivery),
                // The settings were changed since then, or the key was revoked.
                _ => self.inbox.retain(|id| id != name.id)?,
            }
        }
        Ok(())
    }

    /// Drops what these keys sent, and all that they send from now on.
    pub(super) fn block(&self, keys: BTreeSet<String>) -> Result<(), FleetError> {
        let arrivals = &mut *self.arrivals();
        for key in keys {
            if !arrivals.blocked.insert(key.clone()) {
                continue;
            }
            arrivals.warn(format!("{key} is blocked; order.jsonl names the files that it sent before"));
            for (_, delivery) in arrivals.ready.extract_if(.., |_, delivery| delivery.key == key) {
                arrivals.waiting -= delivery.samples.len();
                arrivals.report.blocked += 1;
                self.inbox.retain(|id| id != delivery.id)?;
            }
        }
        Ok(())
    }

    /// Takes in the files that wait, or the next one. What cannot be kept comes again later. Several threads may do this,
    /// so that one checks files while another waits for the disk.
    pub(super) fn fetch(&self, link: &Link, files: &PullConsumer) -> Result<(), FleetError> {
        let messages: Vec<Message> = link.wait(async {
            let there = files.fetch().max_messages(MOST_BATCH).expires(PATIENCE);
            there.messages().await?.try_collect().await
        })?;
        let mut new = Vec::new();
        let taken = self.take_in(link, &messages, &mut new);
        let mut arrivals = self.arrivals();
        for (name, _) in new {
            arrivals.in_hand.remove(&name.id);
        }
        taken
    }

    /// Checks files on all threads, keeps them, and only then acknowledges them, all with one answer of the server. Those
    /// that are read are put into `new`.
    fn take_in<'a>(
        &self,
        link: &Link,
        messages: &'a [Message],
        new: &mut Vec<(KeptName, &'a Message)>,
    ) -> Result<(), FleetError> {
        let mut done = Vec::new();
        for message in messages {
            let bytes = &message.payload;
            let name = KeptName {
                sequence: message.info().map_err(FleetError::new)?.stream_sequence,
                id: GameFile::id(bytes),
                key: sender(message).to_owned(),
            };
            match self.arrivals().look_at(&name, bytes.len()) {
                Glance::Drop => done.push(message),
                Glance::Leave => link.wait(message.ack_with(AckKind::Nak(Some(STAY))))?,
                Glance::Read => new.push((name, message)),
            }
        }
        let newest = self.arrivals().newest;
        let checked: Vec<_> =
            new.par_iter().map(|(name, message)| (self.check)(name, &message.payload, newest)).collect();
        let (mut sound, mut kept) = (Vec::new(), Vec::new());
        for ((name, message), checked) in new.iter().zip(checked) {
            match checked {
                Ok(delivery) => {
                    sound.push((name, &*message.payload));
                    kept.push(delivery);
                }
                Err(problem) => self.put_away(name, &message.payload, &problem)?,
            }
            done.push(*message);
        }
        self.inbox.keep(&sound)?;
        let acknowledged = link.wait(acknowledge(&done));
        let mut arrivals = self.arrivals();
        kept.into_iter().for_each(|delivery| arrivals.add(delivery));
        acknowledged
    }

    /// Puts a bad file into quarantine, and counts it.
    fn put_away(&self, name: &KeptName, bytes: &[u8], problem: &FleetError) -> Result<(), FleetError> {
        let place = match self.inbox.quarantine(name.id, bytes) {
            Ok(Some(path)) => path.display().to_string(),
            Ok(None) => "quarantine is full; the file is not kept".to_owned(),
            Err(error) => return Err(FleetError::new(error)),
        };
        let key = &name.key;
        let mut arrivals = self.arrivals();
        arrivals.warn(format!("a bad file of {key}: {problem} (kept as {place})"));
        arrivals.bad(key);
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
        worker: plain(&file.header.worker),
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
