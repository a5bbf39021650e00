//! Reports of a worker's threads: events to its caller, and progress to the server.

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
    /// Its activity has changed.
    Doing(Doing),
    /// It plays for a run: its game and its settings in words.
    Playing(String),
    /// It plays with a network of this many training steps.
    Network(u64),
    /// The server has a file.
    Sent {
        /// Its name.
        id: FileId,
        /// Its samples.
        samples: usize,
        /// Its bytes.
        bytes: usize,
    },
    /// An arena has the games of this many pairs.
    Pairs(usize),
    /// Something went wrong. The worker tries again.
    Warning(String),
}

/// The progress of a worker, shared by its threads.
pub(super) struct Reporter(Mutex<State>);

struct State {
    progress: WorkerStatus,
    played: Instant,
    reported: (Instant, u64, u64), // the last report, with its positions and games
    events: Vec<WorkerEvent>,
}

impl State {
    /// Counts an event and reports it. A text that is still to be reported is not repeated.
    fn tell(&mut self, event: WorkerEvent) {
        let State { progress, played, events, .. } = self;
        match &event {
            WorkerEvent::Doing(doing) if progress.doing == *doing => return,
            WorkerEvent::Doing(doing) => progress.doing = *doing,
            WorkerEvent::Network(step) => progress.weights = *step,
            WorkerEvent::Sent { samples, bytes, .. } => {
                progress.files += 1;
                progress.samples += *samples as u64;
                progress.bytes += *bytes as u64;
                if progress.doing != Doing::Stopping {
                    progress.doing = Doing::Playing;
                }
            }
            WorkerEvent::Pairs(pairs) => {
                *played = Instant::now();
                progress.pairs += *pairs as u64;
                progress.games += 2 * *pairs as u64;
            }
            WorkerEvent::Playing(_) | WorkerEvent::Warning(_) if events.contains(&event) => return,
            WorkerEvent::Playing(_) | WorkerEvent::Warning(_) => {}
        }
        events.push(event);
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

    /// The progress to report. Its games include those of matches.
    pub(super) fn progress(&self) -> WorkerStatus {
        self.state().progress.clone()
    }

    pub(super) fn tell(&self, event: WorkerEvent) {
        self.state().tell(event);
    }

    pub(super) fn doing(&self, doing: Doing) {
        self.tell(WorkerEvent::Doing(doing));
    }

    pub(super) fn warn(&self, warning: String) {
        self.tell(WorkerEvent::Warning(warning));
    }

    pub(super) fn network(&self, run: &str, step: u64) {
        let mut state = self.state();
        run.clone_into(&mut state.progress.run);
        state.tell(WorkerEvent::Network(step));
    }

    pub(super) fn played(&self, counts: &Counts) {
        let mut state = self.state();
        state.played = Instant::now();
        state.progress.positions += counts.positions;
        state.progress.games += counts.games.games;
        if matches!(state.progress.doing, Doing::Starting | Doing::WaitingForLearner | Doing::Paused) {
            state.tell(WorkerEvent::Doing(Doing::Playing));
        }
    }

    pub(super) fn cannot_send(&self, error: &FleetError) {
        let doing = match error {
            FleetError::Full(_) => Doing::WaitingForQueue,
            FleetError::Missing(_) => Doing::WaitingForLearner,
            FleetError::Transient(_) | FleetError::Permanent(_) => Doing::WaitingForServer,
        };
        let mut state = self.state();
        let before = state.progress.doing;
        if before == Doing::Stopping {
            return;
        }
        state.tell(WorkerEvent::Doing(doing));
        if doing == Doing::WaitingForServer && before != doing {
            state.tell(WorkerEvent::Warning(format!("{error}; trying again")));
        }
    }

    /// Reports the events since the last call, and the present progress.
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
