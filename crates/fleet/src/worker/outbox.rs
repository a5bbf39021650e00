//! Sends files, one after the other, until the server has each of them.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::places::samples_subject;
use crate::reporter::Reporter;
use crate::{GameFile, Link, SentFile};

/// The pause before a file is sent again.
const AGAIN: Duration = Duration::from_millis(500);

/// How long a worker that was told to stop, or whose run is over, tries to send what it has.
pub(super) const FAREWELL: Duration = Duration::from_secs(20);

/// A file on its way.
pub(super) struct OutgoingFile {
    pub(super) bytes: Vec<u8>,
    pub(super) samples: usize,
}

/// A thread that sends, with room for one file besides the one that it is sending.
pub(super) struct Outbox<'scope> {
    files: SyncSender<OutgoingFile>,
    deadline: &'scope OnceLock<Instant>,
    thread: ScopedJoinHandle<'scope, usize>,
}

impl<'scope> Outbox<'scope> {
    /// Starts the thread. `deadline` is for all that is left at the end.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        link: &'scope Link,
        run: &str,
        reporter: &'scope Reporter,
        deadline: &'scope OnceLock<Instant>,
    ) -> Outbox<'scope> {
        let (files, waiting) = sync_channel(1);
        let subject = samples_subject(run, link.user());
        let thread = scope.spawn(move || send_all(link, &subject, &waiting, deadline, reporter));
        Outbox {
            files,
            deadline,
            thread,
        }
    }

    /// Hands over a file, or gives it back if there is no room.
    pub(super) fn offer(&self, file: OutgoingFile) -> Option<OutgoingFile> {
        match self.files.try_send(file) {
            Ok(()) => None,
            Err(TrySendError::Full(file) | TrySendError::Disconnected(file)) => Some(file),
        }
    }

    /// Limits the time for all that is left. Only the first call counts.
    pub(super) fn hurry(&self) {
        self.deadline.get_or_init(|| Instant::now() + FAREWELL);
    }

    /// Whether that time is over.
    pub(super) fn is_late(&self) -> bool {
        is_late(self.deadline)
    }

    /// Sends what is left, for a limited time. Returns the number of files that could not be sent.
    pub(super) fn finish(self) -> usize {
        self.hurry();
        drop(self.files);
        self.thread.join().expect("the outbox does not panic")
    }
}

fn is_late(deadline: &OnceLock<Instant>) -> bool {
    deadline.get().is_some_and(|until| Instant::now() > *until)
}

/// Sends every file until the server has it, under its name, so that the server recognises one that it already has.
/// Returns the number of those that it does not have.
fn send_all(
    link: &Link,
    subject: &str,
    files: &Receiver<OutgoingFile>,
    deadline: &OnceLock<Instant>,
    reporter: &Reporter,
) -> usize {
    let mut unsent = 0;
    for file in files {
        let id = GameFile::id(&file.bytes);
        loop {
            match link.publish(subject, &id.to_string(), file.bytes.clone()) {
                Ok(()) => {
                    reporter.sent(SentFile {
                        id,
                        samples: file.samples,
                        bytes: file.bytes.len(),
                    });
                    break;
                }
                Err(problem) => reporter.cannot_send(&problem),
            }
            if is_late(deadline) || link.check_admission().is_err() {
                unsent += 1;
                break;
            }
            thread::sleep(AGAIN);
        }
    }
    unsent
}
