//! Sends files, one after the other, until the server has each of them.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::SentFile;
use super::session::Report;
use crate::places::SAMPLES_SUBJECT;
use crate::{Doing, FleetError, GameFile, Link};

/// The pause before a file is sent again.
const AGAIN: Duration = Duration::from_millis(500);

/// How long a worker that was told to stop, or whose run is over, tries to send what it has.
pub(super) const FAREWELL: Duration = Duration::from_secs(20);

/// A file on its way.
pub(super) struct Parcel {
    pub(super) bytes: Vec<u8>,
    pub(super) samples: usize,
}

/// A thread that sends, with room for one file besides the one that it is sending.
pub(super) struct Outbox {
    parcels: Option<SyncSender<Parcel>>,
    deadline: Arc<Mutex<Option<Instant>>>,
    thread: Option<JoinHandle<usize>>,
}

impl Outbox {
    pub(super) fn start(link: Link, process: &str, report: Arc<Report>) -> Outbox {
        let (parcels, waiting) = sync_channel(1);
        let deadline = Arc::new(Mutex::new(None));
        let until = Arc::clone(&deadline);
        let subject = format!("{SAMPLES_SUBJECT}.{}.{process}", link.user());
        let thread = thread::spawn(move || send_all(&link, &subject, &waiting, &until, &report));
        Outbox {
            parcels: Some(parcels),
            deadline,
            thread: Some(thread),
        }
    }

    /// Hands over a file, or gives it back if there is no room.
    pub(super) fn offer(&self, parcel: Parcel) -> Option<Parcel> {
        let parcels = self.parcels.as_ref().expect("open until it is finished");
        match parcels.try_send(parcel) {
            Ok(()) => None,
            Err(TrySendError::Full(parcel) | TrySendError::Disconnected(parcel)) => Some(parcel),
        }
    }

    /// Limits the time for all that is left. Only the first call counts.
    pub(super) fn hurry(&self) {
        let mut deadline = self.deadline.lock().expect("no thread panics");
        deadline.get_or_insert_with(|| Instant::now() + FAREWELL);
    }

    /// Whether that time is over.
    pub(super) fn is_late(&self) -> bool {
        is_late(&self.deadline)
    }

    /// Sends what is left, for a limited time. Returns the number of files that could not be sent.
    pub(super) fn finish(mut self) -> usize {
        self.hurry();
        self.parcels = None;
        let thread = self.thread.take().expect("finished once");
        thread.join().expect("the outbox does not panic")
    }
}

fn is_late(deadline: &Mutex<Option<Instant>>) -> bool {
    let until = *deadline.lock().expect("no thread panics");
    until.is_some_and(|until| Instant::now() > until)
}

/// Sends every file until the server has it. Returns the number of those that it does not have.
fn send_all(
    link: &Link,
    subject: &str,
    parcels: &Receiver<Parcel>,
    deadline: &Mutex<Option<Instant>>,
    report: &Report,
) -> usize {
    let mut unsent = 0;
    for parcel in parcels {
        loop {
            match send(link, subject, &parcel) {
                Ok(()) => {
                    report.sent(SentFile {
                        id: GameFile::id(&parcel.bytes),
                        samples: parcel.samples,
                        bytes: parcel.bytes.len(),
                    });
                    break;
                }
                Err(problem) => report.cannot_send(problem),
            }
            if is_late(deadline) {
                unsent += 1;
                break;
            }
            thread::sleep(AGAIN);
        }
    }
    unsent
}

/// Why a file is not at the server.
pub(super) enum Unsent {
    QueueIsFull,
    Failed(FleetError),
}

impl Unsent {
    pub(super) fn doing(&self) -> Doing {
        match self {
            Unsent::QueueIsFull => Doing::WaitingForQueue,
            Unsent::Failed(_) => Doing::WaitingForServer,
        }
    }
}

/// Sends a file under its name, so that the server recognises it if it already has it.
fn send(link: &Link, subject: &str, parcel: &Parcel) -> Result<(), Unsent> {
    let name = GameFile::id(&parcel.bytes).to_string();
    match link.publish(subject, &name, parcel.bytes.clone()) {
        Ok(()) => Ok(()),
        Err(error) if error.to_string().contains("maximum messages exceeded") => {
            Err(Unsent::QueueIsFull)
        }
        Err(error) => Err(Unsent::Failed(error)),
    }
}
