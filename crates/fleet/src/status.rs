//! A look at a fleet from outside: the learner, the queue, the workers.

use std::fmt;

use async_nats::jetstream::Message;
use serde::Serialize;

use super::places::{PAIRS, PROGRESS, RUNS, SAMPLES, newest_messages};
use super::progress::{GONE_AFTER, WorkerStatus, workers};
use super::settings::{Alive, Newest};
use super::{FleetError, Link};
use jarmo_learn::observe::FleetReport;

/// The letters of a key that are shown.
const KEY_LETTERS: usize = 8;

/// What a fleet does at the moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// The server's version.
    pub server: String,
    /// The runs that used the server, the one that was heard last first.
    pub runs: Vec<RunStatus>,
    /// Blocks of pairs of games that arenas wait for.
    pub pairs: u64,
    /// The workers of the last hour.
    pub workers: Vec<WorkerStatus>,
}

/// What a learner said of its run last, and what waits for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunStatus {
    /// Its identity.
    pub run: String,
    /// The folder of the run.
    pub folder: String,
    /// The learner's program and version.
    pub program: String,
    /// Seconds since then.
    pub since_heard: f64,
    /// Learning steps of the newest network.
    pub step: Option<u64>,
    /// Files that wait for the learner.
    pub queued: u64,
    /// Their bytes.
    pub queued_bytes: u64,
    /// The most files that may wait.
    pub queue: u64,
    /// What its view shows of the fleet.
    pub report: FleetReport,
}

impl RunStatus {
    /// Whether its learner runs.
    pub fn is_here(&self) -> bool {
        self.since_heard < GONE_AFTER
    }
}

/// Looks at a fleet, with the learner's key. Writes nothing.
pub fn status(link: &Link) -> Result<Status, FleetError> {
    let context = link.context();
    let mut status = Status {
        server: link.client().server_info().version,
        ..Status::default()
    };
    // A learner or an arena that uses the server makes the streams.
    if let Ok(stream) = link.wait(context.get_stream(format!("KV_{RUNS}"))) {
        status.runs = runs(link, &newest_messages(link, &stream)?)?;
    }
    if let Ok(progress) = link.wait(context.get_stream(PROGRESS)) {
        status.workers = workers(link, &progress)?;
    }
    if let Ok(pairs) = link.wait(context.get_stream(PAIRS)) {
        status.pairs = pairs.cached_info().state.messages;
    }
    Ok(status)
}

fn runs(link: &Link, entries: &[(Message, f64)]) -> Result<Vec<RunStatus>, FleetError> {
    let of_kind = |kind: &'static str| {
        entries.iter().filter_map(move |(message, age)| {
            let key = message.subject.rsplit_once('.')?;
            let run = key.0.rsplit('.').next()?;
            (key.1 == kind).then_some((run, &message.payload, *age))
        })
    };
    let mut runs = Vec::new();
    for (run, said, since_heard) in of_kind("learner") {
        let alive: Alive = serde_json::from_slice(said).map_err(FleetError::new)?;
        let newest = of_kind("network").find(|(of, ..)| *of == run);
        let newest =
            newest.and_then(|(_, newest, _)| serde_json::from_slice::<Newest>(newest).ok());
        let mut status = RunStatus {
            run: run.to_owned(),
            folder: alive.folder,
            program: alive.program,
            since_heard,
            step: newest.map(|newest| newest.step),
            report: alive.report,
            ..RunStatus::default()
        };
        if let Ok(samples) = link.wait(link.context().get_stream(format!("{SAMPLES}{run}"))) {
            let info = samples.cached_info();
            status.queued = info.state.messages;
            status.queued_bytes = info.state.bytes;
            status.queue = info.config.max_messages.max(0) as u64;
        }
        runs.push(status);
    }
    runs.sort_by(|a, b| a.since_heard.total_cmp(&b.since_heard));
    Ok(runs)
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "nats-server {}", self.server)?;
        if self.runs.is_empty() {
            writeln!(out, "no learner has used this server so far")?;
        }
        for run in &self.runs {
            write!(out, "{run}")?;
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
            "\n{:width$} {:KEY_LETTERS$} {:>7} {:>7} {:>11} {:>9} {:>7} {:>6}  doing",
            "worker", "key", "threads", "games/s", "positions/s", "samples", "network", "played"
        )?;
        for worker in &self.workers {
            self.write_worker(worker, width, out)?;
        }
        Ok(())
    }
}

impl Status {
    fn write_worker(
        &self,
        worker: &WorkerStatus,
        width: usize,
        out: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let doing = match (worker.is_here(), worker.plays()) {
            (false, _) => format!("gone, last heard {} ago", ago(worker.since_heard)),
            (true, true) => worker.doing.text().to_owned(),
            (true, false) => format!("does nothing: {}", worker.doing.text()),
        };
        let learner = self.runs.iter().find(|run| run.run == worker.run);
        let program = match learner {
            Some(run) if run.program != worker.program => format!(", {}", worker.program),
            _ => String::new(),
        };
        let run = match self.runs.iter().filter(|run| run.is_here()).count() {
            0 | 1 => String::new(),
            _ => learner.map_or(String::new(), |run| format!(", for {}", run.folder)),
        };
        let (games, positions) = match worker.is_here() {
            true => (worker.games_per_s, worker.positions_per_s),
            false => (0.0, 0.0),
        };
        let key: String = worker.key.chars().take(KEY_LETTERS).collect();
        writeln!(
            out,
            "{:width$} {key:KEY_LETTERS$} {:>7} {games:>7.1} {positions:>11.0} {:>9} {:>7} {:>6}  {doing}{run}{program}",
            worker.worker,
            worker.threads,
            worker.samples,
            worker.weights,
            ago(worker.since_played),
        )
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunStatus {
            run,
            folder,
            program,
            ..
        } = self;
        let step = self.step.map_or(String::new(), |step| {
            format!(", newest network of step {step}")
        });
        let since = match self.is_here() {
            true => String::new(),
            false => format!(", stopped {} ago", ago(self.since_heard)),
        };
        writeln!(out, "learner: {folder}, {program}{step}{since}, run {run}")?;
        if self.is_here() {
            writeln!(out, "arrived: {}", self.report.files_text())?;
        }
        writeln!(
            out,
            "queue: {} of at most {} files, {:.1} MB",
            self.queued,
            self.queue,
            self.queued_bytes as f64 / 1e6
        )
    }
}

fn ago(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}
