//! What the threads of a worker tell: events to its caller, and progress to the server.

use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use serde::Serialize;

use crate::places::progress_subject;
use crate::{Doing, FleetError, Link, WorkerStatus, json, lock};
use jarmo_host::program::this_program;
use jarmo_learn::run::FileId;
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

/// What the threads of a worker know of its progress.
pub(super) struct Reporter(Mutex<State>);

struct State {
    progress: WorkerStatus,
    played: Instant,
    reported: (Instant, u64, u64), // the last report, with its positions and games
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
        Reporter(Mutex::new(State { progress, played: now, reported: (now, 0, 0), events: Vec::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    /// What the worker says of itself; its games are also those of matches.
    pub(super) fn progress(&self) -> WorkerStatus {
        self.state().progress.clone()
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

    /// Tells an event, unless the same one waits to be told.
    pub(super) fn tell(&self, event: WorkerEvent) {
        let mut state = self.state();
        if !state.events.contains(&event) {
            state.events.push(event);
        }
    }

    pub(super) fn warn(&self, warning: String) {
        self.tell(WorkerEvent::Warning(warning));
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
        let State { progress, played, reported: (at, positions, games), .. } = &mut *state;
        let seconds = at.elapsed().as_secs_f64().max(1e-3);
        progress.positions_per_s = (progress.positions - *positions) as f64 / seconds;
        progress.games_per_s = (progress.games - *games) as f64 / seconds;
        progress.since_played = played.elapsed().as_secs_f64();
        (*at, *positions, *games) = (Instant::now(), progress.positions, progress.games);
        let (subject, text) = (progress_subject(&link.user, &progress.worker), json(progress));
        drop(state); // sending takes time
        let _ = link.send(&subject, text.into());
    }
}
