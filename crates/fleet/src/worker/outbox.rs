//! Sends files, one after the other, until the server has each of them.

use std::sync::mpsc::Receiver;
use std::thread;
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

/// The bytes of a file of games, and its samples.
pub(super) type Packed = (Vec<u8>, usize);

/// Sends files until there are no more of them. Returns the number of those that could not be sent.
pub(super) fn send_all(worker: Worker<'_>, news: &News, run: &str, files: Receiver<Packed>) -> usize {
    let subject = samples_subject(run, &worker.link.user);
    let files = files.into_iter();
    files.filter(|(bytes, samples)| !send(worker, news, &subject, bytes, *samples)).count()
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
