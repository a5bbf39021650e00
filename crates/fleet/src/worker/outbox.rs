//! Sends files, one after the other, until the server has each of them.

use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use super::lookout::News;
use crate::link::ANSWER;
use crate::places::samples_subject;
use crate::reporter::Worker;
use crate::{GameFile, SentFile};

/// The pause before a file is sent again.
const AGAIN: Duration = Duration::from_millis(500);

/// How long a worker that was told to stop, or whose run is over, tries to send what it has.
pub(super) const FAREWELL: Duration = Duration::from_secs(20);

/// The file that is being sent, and those that were given up.
pub(super) struct Outbox<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    worker: Worker<'env>,
    news: &'env News,
    subject: String,
    sending: Option<ScopedJoinHandle<'scope, bool>>,
    unsent: usize,
}

impl<'scope, 'env> Outbox<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        worker: Worker<'env>,
        news: &'env News,
        run: &str,
    ) -> Outbox<'scope, 'env> {
        Outbox { subject: samples_subject(run, worker.link.user()), scope, worker, news, sending: None, unsent: 0 }
    }

    pub(super) fn is_busy(&self) -> bool {
        let sending = self.sending.as_ref();
        sending.is_some_and(|sending| !sending.is_finished())
    }

    /// Begins to send a file, after the one before.
    pub(super) fn send(&mut self, bytes: Vec<u8>, samples: usize) {
        self.finish();
        let (worker, news, subject) = (self.worker, self.news, self.subject.clone());
        let send = move || send(worker, news, &subject, &bytes, samples);
        self.sending = Some(self.scope.spawn(send));
    }

    /// Waits until the last file is sent. Returns the number of files that could not be sent so far.
    pub(super) fn finish(&mut self) -> usize {
        if let Some(sending) = self.sending.take() {
            let is_sent = sending.join().expect("the outbox does not panic");
            self.unsent += usize::from(!is_sent);
        }
        self.unsent
    }
}

/// Sends a file until the server has it, under its name, so that the server recognises one that it already has. Returns
/// whether it has it.
fn send(worker: Worker<'_>, news: &News, subject: &str, bytes: &[u8], samples: usize) -> bool {
    let Worker { link, reporter, .. } = worker;
    let id = GameFile::id(bytes);
    loop {
        let left = FAREWELL.saturating_sub(news.since_over());
        if left.is_zero() || link.check_admission().is_err() {
            return false;
        }
        match link.publish(subject, &id.to_string(), bytes.to_vec(), left.min(ANSWER)) {
            Ok(()) => break,
            Err(problem) => reporter.cannot_send(&problem),
        }
        thread::sleep(AGAIN);
    }
    reporter.sent(SentFile { id, samples, bytes: bytes.len() });
    true
}
