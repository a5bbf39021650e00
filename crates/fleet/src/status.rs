//! A look at a fleet from outside: the learner, the queue, the workers.

use std::fmt;

use serde::Serialize;

use super::card::{Alive, Newest};
use super::places::{ALIVE, NETWORK, PAIRS, RUN, SAMPLES, ages};
use super::progress::GONE_AFTER;
use super::{FleetError, Link, Progress, Workers};
use jarmo_learn::observe::FleetReport;

/// What a fleet does at the moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// The server's version.
    pub server: String,
    /// The learner; `None` if none ever used the server.
    pub learner: Option<LearnerStatus>,
    /// Learning steps of the newest network.
    pub step: Option<u64>,
    /// Files that wait for the learner.
    pub queued: u64,
    /// Their bytes.
    pub queued_bytes: u64,
    /// The most files that may wait.
    pub queue: u64,
    /// Blocks of pairs of games that arenas wait for.
    pub pairs: u64,
    /// The workers of the last hour.
    pub workers: Vec<Progress>,
}

/// What a learner said of itself last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnerStatus {
    /// The folder of its run.
    pub folder: String,
    /// Its program and version.
    pub program: String,
    /// Seconds since then.
    pub since_heard: f64,
    /// What its view shows of the fleet.
    pub report: FleetReport,
}

impl LearnerStatus {
    /// Whether it runs.
    pub fn is_here(&self) -> bool {
        self.since_heard < GONE_AFTER
    }
}

/// Looks at a fleet, with the learner's key.
pub fn status(link: &Link) -> Result<Status, FleetError> {
    let context = link.context();
    let mut status = Status {
        server: link.client().server_info().version,
        ..Status::default()
    };
    if let Ok(run) = link.wait(context.get_key_value(RUN)) {
        if let Some(entry) = link.wait(run.entry(ALIVE))? {
            let alive: Alive = serde_json::from_slice(&entry.value).map_err(FleetError::new)?;
            status.learner = Some(LearnerStatus {
                folder: alive.folder,
                program: alive.program,
                since_heard: ages(link, &run, &[entry])?[0],
                report: alive.report,
            });
        }
        if let Some(newest) = link.wait(run.get(NETWORK))? {
            let newest: Newest = serde_json::from_slice(&newest).map_err(FleetError::new)?;
            status.step = Some(newest.step);
        }
        let samples = link.wait(context.get_stream(SAMPLES))?;
        let info = link.wait(samples.get_info())?;
        status.queued = info.state.messages;
        status.queued_bytes = info.state.bytes;
        status.queue = info.config.max_messages.max(0) as u64;
    }
    // Learners and arenas make this bucket.
    if let Ok(workers) = Workers::of(link) {
        status.workers = workers.list(link)?;
        if let Ok(pairs) = link.wait(context.get_stream(PAIRS)) {
            status.pairs = link.wait(pairs.get_info())?.state.messages;
        }
    }
    Ok(status)
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "nats-server {}", self.server)?;
        match &self.learner {
            None => writeln!(out, "no learner has used this server so far")?,
            Some(learner) => {
                let step = self.step.map_or(String::new(), |step| {
                    format!(", newest network of step {step}")
                });
                let LearnerStatus {
                    folder, program, ..
                } = learner;
                let since = match learner.is_here() {
                    true => String::new(),
                    false => format!(", stopped {} ago", ago(learner.since_heard)),
                };
                writeln!(out, "learner: {folder}, {program}{step}{since}")?;
                if learner.is_here() {
                    writeln!(out, "arrived: {}", learner.report.files_text())?;
                }
                writeln!(
                    out,
                    "queue: {} of at most {} files, {:.1} MB",
                    self.queued,
                    self.queue,
                    self.queued_bytes as f64 / 1e6
                )?;
            }
        }
        if self.pairs > 0 {
            writeln!(out, "matches: blocks of games to be played: {}", self.pairs)?;
        }
        if self.workers.is_empty() {
            return writeln!(out, "no worker in the last hour");
        }
        let longest = self.workers.iter().map(|worker| worker.worker.len()).max();
        let width = longest.unwrap_or(0).max("worker".len());
        writeln!(
            out,
            "\n{:width$} {:>7} {:>7} {:>11} {:>9} {:>7} {:>6}  doing",
            "worker", "threads", "games/s", "positions/s", "samples", "network", "played"
        )?;
        for worker in &self.workers {
            let doing = match (worker.is_here(), worker.plays()) {
                (false, _) => format!("gone, last heard {} ago", ago(worker.since_heard)),
                (true, true) => worker.doing.text().to_owned(),
                (true, false) => format!("does nothing: {}", worker.doing.text()),
            };
            let other = self
                .learner
                .as_ref()
                .is_some_and(|learner| learner.program != worker.program);
            let program = match other {
                true => format!(", {}", worker.program),
                false => String::new(),
            };
            let (games, positions) = match worker.is_here() {
                true => (worker.games_per_s, worker.positions_per_s),
                false => (0.0, 0.0),
            };
            writeln!(
                out,
                "{:width$} {:>7} {games:>7.1} {positions:>11.0} {:>9} {:>7} {:>6}  {doing}{program}",
                worker.worker,
                worker.threads,
                worker.samples,
                worker.weights,
                ago(worker.since_played),
            )?;
        }
        Ok(())
    }
}

fn ago(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}
