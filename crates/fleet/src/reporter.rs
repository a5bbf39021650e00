//! What the threads of a worker tell: events to its caller, and progress to the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use serde::Serialize;

use super::places::progress_subject;
use super::progress::{Doing, WorkerStatus};
use super::{FleetError, Link, lock};
use jarmo_host::program::this_program;
use jarmo_learn::run::FileId;
use jarmo_learn::train::OpenDevice;
use jarmo_selfplay::selfplay::Counts;

/// An event of a worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event", content = "of")]
pub enum WorkerEvent {
    /// It does something else now.
    Doing(Doing),
    /// It plays for a run: its game and its settings in words.
    Playing(String),
    /// It plays with a network of this many learning steps.
    Network(u64),
    /// The server has a file.
    Sent(SentFile),
    /// An arena has the games of this many pairs.
    Pairs(usize),
    /// Something went wrong and is tried again.
    Warning(String),
}

/// A file that the server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SentFile {
    /// Its name.
    pub id: FileId,
    /// Its samples.
    pub samples: usize,
    /// Its bytes.
    pub bytes: usize,
}

/// A connected worker: what all its parts need.
#[derive(Clone, Copy)]
pub(super) struct Worker<'a> {
    pub(super) id: u64, // which no other process has
    pub(super) name: &'a str,
    pub(super) wanted: Option<&'a str>, // the only run to play for
    pub(super) threads: usize,
    pub(super) device: &'a OpenDevice,
    pub(super) link: &'a Link,
    pub(super) reporter: &'a Reporter,
    pub(super) stop: &'a AtomicBool,
}

impl Worker<'_> {
    pub(super) fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What the threads of a worker know of its progress.
pub(super) struct Reporter(Mutex<State>);

struct State {
    progress: WorkerStatus,
    played: Instant,
    reported: Instant,
    at_report: (u64, u64), // positions and games at the last report
    events: Vec<WorkerEvent>,
}

impl State {
    fn begin(&mut self, doing: Doing) {
        if self.progress.doing != doing {
            self.progress.doing = doing;
            self.events.push(WorkerEvent::Doing(doing));
        }
    }
}

impl Reporter {
    pub(super) fn new(worker: &str, threads: usize) -> Reporter {
        let progress =
            WorkerStatus { worker: worker.to_owned(), program: this_program(), threads, ..WorkerStatus::default() };
        let now = Instant::now();
        Reporter(Mutex::new(State { progress, played: now, reported: now, at_report: (0, 0), events: Vec::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    pub(super) fn doing_now(&self) -> Doing {
        self.state().progress.doing
    }

    /// Finished games, also those of matches.
    pub(super) fn games(&self) -> u64 {
        self.state().progress.games
    }

    pub(super) fn doing(&self, doing: Doing) {
        self.state().begin(doing);
    }

    pub(super) fn network(&self, run: &str, step: u64) {
        let mut state = self.state();
        state.progress.run = run.to_owned();
        state.progress.weights = step;
        state.events.push(WorkerEvent::Network(step));
    }

    pub(super) fn played(&self, counts: &Counts) {
        let mut state = self.state();
        state.played = Instant::now();
        state.progress.positions += counts.positions;
        state.progress.games += counts.games.games;
        if matches!(state.progress.doing, Doing::Starting | Doing::WaitingForLearner | Doing::Paused) {
            state.begin(Doing::Playing);
        }
    }

    pub(super) fn sent(&self, file: SentFile) {
        let mut state = self.state();
        state.progress.files += 1;
        state.progress.samples += file.samples as u64;
        state.progress.bytes += file.bytes as u64;
        state.events.push(WorkerEvent::Sent(file));
        if state.progress.doing != Doing::Stopping {
            state.progress.doing = Doing::Playing;
        }
    }

    pub(super) fn pairs(&self, pairs: usize) {
        let mut state = self.state();
        state.played = Instant::now();
        state.progress.pairs += pairs as u64;
        state.progress.games += 2 * pairs as u64;
        state.events.push(WorkerEvent::Pairs(pairs));
    }

    pub(super) fn cannot_send(&self, error: &FleetError) {
        let doing = match error {
            FleetError::Full(_) => Doing::WaitingForQueue,
            FleetError::Missing(_) => Doing::WaitingForLearner,
            FleetError::Passing(_) | FleetError::Lasting(_) => Doing::WaitingForServer,
        };
        let mut state = self.state();
        if state.progress.doing == doing || state.progress.doing == Doing::Stopping {
            return;
        }
        state.begin(doing);
        if doing == Doing::WaitingForServer {
            state.events.push(WorkerEvent::Warning(format!("{error}; trying again")));
        }
    }

    pub(super) fn tell(&self, event: WorkerEvent) {
        self.state().events.push(event);
    }

    pub(super) fn warn(&self, warning: String) {
        let mut state = self.state();
        let event = WorkerEvent::Warning(warning);
        if !state.events.contains(&event) {
            state.events.push(event);
        }
    }

    /// Tells what has happened since the last call, and what the worker says of itself now.
    pub(super) fn events(&self, tell: &mut impl FnMut(&WorkerEvent, &WorkerStatus)) {
        let mut state = self.state();
        let (events, progress) = (std::mem::take(&mut state.events), state.progress.clone());
        drop(state);
        events.iter().for_each(|event| tell(event, &progress));
    }

    /// Sends the progress. A report that does not arrive is replaced by the next one.
    pub(super) fn send(&self, link: &Link) {
        let mut state = self.state();
        let seconds = state.reported.elapsed().as_secs_f64().max(1e-3);
        let (positions, games) = (state.progress.positions, state.progress.games);
        let (old_positions, old_games) = state.at_report;
        state.progress.positions_per_s = (positions - old_positions) as f64 / seconds;
        state.progress.games_per_s = (games - old_games) as f64 / seconds;
        state.progress.since_played = state.played.elapsed().as_secs_f64();
        state.at_report = (positions, games);
        state.reported = Instant::now();
        let progress = state.progress.clone();
        drop(state); // sending takes time
        let subject = progress_subject(&link.user, &progress.worker);
        let text = serde_json::to_vec(&progress).expect("progress is plain data");
        let _ = link.send(&subject, text);
    }
}
