//! Files of games on their way into the run: from the server to the disk, then acknowledged, then to the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;

use super::game_file::GameFile;
use super::inbox::Inbox;
use super::{FleetError, Link};
use jarmo_core::encode::Encode;
use jarmo_core::net::GameVersion;
use jarmo_exact::tables::HasEndgames;
use jarmo_learn::run::{Delivery, FileId, Seen};
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::{Counts, EpisodeReader};

/// Files of one request to the server.
const BATCH: usize = 4;

/// How long a request waits for files.
const PATIENCE: Duration = Duration::from_secs(1);

/// The samples that wait on this machine at most, apart from those of one request. More would only be lost time when the
/// learner is killed; the server's queue holds the rest.
const MOST_WAITING: usize = 1 << 14;

/// What the intake shares with the loop.
pub(super) struct Desk {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ready: BTreeMap<(u64, FileId), Delivery>, // by sequence, which begins again if the server lost its disk
    waiting: usize,                           // samples in `ready`
    known: BTreeSet<FileId>,                  // on disk, and perhaps in a checkpoint
    dropped: Dropped,
    warnings: Vec<String>,
}

/// Counts of files that did not get into the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dropped {
    pub(super) duplicates: u64,
    pub(super) strange: u64,
    pub(super) bad: u64,
    pub(super) bytes: u64, // of all files
}

impl Desk {
    pub(super) fn new() -> Desk {
        Desk {
            state: Mutex::new(State::default()),
        }
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

    pub(super) fn dropped(&self) -> Dropped {
        self.lock().dropped
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

    /// Keeps only the names of files that a checkpoint remembers or that wait.
    pub(super) fn forget(&self, seen: &Seen) {
        let mut state = self.lock();
        let waiting: BTreeSet<FileId> = state.ready.values().map(|file| file.id).collect();
        state
            .known
            .retain(|id| seen.contains(*id) || waiting.contains(id));
    }

    fn add(&self, delivery: Delivery) {
        let mut state = self.lock();
        state.known.insert(delivery.id);
        state.waiting += delivery.samples.len();
        let place = (delivery.sequence, delivery.id);
        state.ready.insert(place, delivery);
    }

    fn count(&self, change: impl FnOnce(&mut Dropped)) {
        change(&mut self.lock().dropped);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics at the desk")
    }
}

/// Reads files, checks them, and keeps them.
pub(super) struct Intake<G: Encode> {
    run: String,
    origin: GameVersion,
    reader: EpisodeReader<G>,
    inbox: Inbox,
}

/// What to do with a file.
enum Checked {
    Good(Box<Delivery>),
    OfAnotherRun,
    Bad(String),
}

impl<G: Encode + HasEndgames> Intake<G> {
    pub(super) fn new(
        run: String,
        origin: GameVersion,
        reader: EpisodeReader<G>,
        inbox: Inbox,
    ) -> Intake<G> {
        Intake {
            run,
            origin,
            reader,
            inbox,
        }
    }

    pub(super) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Takes up the files that were acknowledged and are in no checkpoint.
    pub(super) fn resume(&self, seen: &Seen, desk: &Desk) -> Result<(), FleetError> {
        for kept in self.inbox.load(seen)? {
            match self.check(kept.sequence, kept.id, &kept.bytes) {
                Checked::Good(delivery) => desk.add(*delivery),
                // The settings were changed since it was acknowledged.
                Checked::OfAnotherRun | Checked::Bad(_) => {
                    self.inbox.remove(kept.sequence, kept.id)?;
                }
            }
        }
        Ok(())
    }

    /// Handles one request's worth of files.
    pub(super) fn fetch(
        &self,
        link: &Link,
        files: &PullConsumer,
        seen: &Mutex<Seen>,
        desk: &Desk,
    ) -> Result<(), FleetError> {
        for message in link.fetch(files, BATCH, PATIENCE)? {
            self.handle(link, &message, seen, desk)?;
        }
        Ok(())
    }

    /// Keeps a file, then acknowledges it. If it cannot be kept, the server sends it again later.
    fn handle(
        &self,
        link: &Link,
        message: &Message,
        seen: &Mutex<Seen>,
        desk: &Desk,
    ) -> Result<(), FleetError> {
        let bytes = &message.payload;
        let id = GameFile::id(bytes);
        let sequence = message.info().map_err(FleetError::new)?.stream_sequence;
        desk.count(|dropped| dropped.bytes += bytes.len() as u64);
        let is_known =
            desk.lock().known.contains(&id) || seen.lock().expect("no thread panics").contains(id);
        if is_known {
            desk.count(|dropped| dropped.duplicates += 1);
            return acknowledge(link, message);
        }
        match self.check(sequence, id, bytes) {
            Checked::Good(delivery) => {
                self.inbox.keep(sequence, id, bytes)?;
                let acknowledged = acknowledge(link, message);
                desk.add(*delivery);
                acknowledged
            }
            Checked::OfAnotherRun => {
                desk.count(|dropped| dropped.strange += 1);
                acknowledge(link, message)
            }
            Checked::Bad(problem) => {
                desk.count(|dropped| dropped.bad += 1);
                let kept = self.inbox.quarantine(id, bytes);
                let place = match kept {
                    Ok(Some(path)) => path.display().to_string(),
                    Ok(None) => "quarantine is full; the file is not kept".to_owned(),
                    Err(error) => return Err(FleetError::new(error)),
                };
                let subject = &message.subject;
                desk.warn(format!(
                    "a bad file on {subject}: {problem} (kept as {place})"
                ));
                acknowledge(link, message)
            }
        }
    }

    fn check(&self, sequence: u64, id: FileId, bytes: &[u8]) -> Checked {
        let file = match GameFile::from_bytes(bytes) {
            Ok(file) => file,
            Err(error) => return Checked::Bad(error.to_string()),
        };
        let header = &file.header;
        if let Err(problem) = header.origin.check(&self.origin) {
            return Checked::Bad(problem);
        }
        if header.run != self.run {
            return Checked::OfAnotherRun;
        }
        if !header.is_possible() {
            return Checked::Bad("its counts are impossible".to_owned());
        }
        let mut samples = Samples::new();
        let mut counts = Counts {
            games: Default::default(),
            ..header.counts
        };
        for (number, game) in file.games.iter().enumerate() {
            if let Err(error) = self.reader.read(game, &mut samples, &mut counts) {
                return Checked::Bad(format!("game {number}: {error}"));
            }
        }
        let Some(weights) = file.games.iter().map(|game| game.weights).min() else {
            return Checked::Bad("it holds no games".to_owned());
        };
        Checked::Good(Box::new(Delivery {
            id,
            sequence,
            worker: header.worker.clone(),
            weights,
            bytes: bytes.len() as u64,
            samples,
            counts,
        }))
    }
}

fn acknowledge(link: &Link, message: &Message) -> Result<(), FleetError> {
    link.wait(message.double_ack())
}
