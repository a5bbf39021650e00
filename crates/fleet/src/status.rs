//! Orders to all workers, the progress that each reports, and the status of a fleet.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::places::{LIVES, Listed, Newest, ORDERS, PROGRESS, RUNS, SAMPLES, find, list, look_at, runs};
use super::settings::{RunSettings, read_said};
use super::{FleetError, Link, json};
use jarmo_host::text::{span, table};
use jarmo_learn::observe::FleetReport;

/// Stands for a key in the progress of learners and arenas.
pub(super) const LEARNER: &str = "learner";
pub(super) const ARENA: &str = "arena";

pub(super) const REPORT_EVERY: Duration = Duration::from_secs(5); // workers and arenas
const PLAYS_WITHIN: f64 = 30.0; // seconds; a worker that has played nothing for longer does nothing, whatever it says
pub(super) const GONE_AFTER: f64 = 15.0; // seconds without a word of a worker, a learner or an arena
const MOST_PER_KEY: usize = 4096; // workers that are listed; more are not real
const MOST_NAME: usize = 64; // letters
const KEY_LETTERS: usize = 8; // of a key that are shown

/// An order to all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orders {
    /// Play.
    #[default]
    Play,
    /// Send the finished games, and wait.
    Pause,
    /// Send the finished games, and stop.
    Drain,
}

impl Orders {
    /// Gives an order to all workers, present and future. Needs the learner's key.
    pub fn give(self, link: &Link) -> Result<(), FleetError> {
        let runs = find(link, runs(&link.context))?;
        link.wait(runs.put(ORDERS, json(&self).into())).map(|_| ())
    }
}

/// The activity of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It has not begun.
    #[default]
    Starting,
    /// It plays.
    Playing,
    /// It plays matches of an arena.
    PlayingMatches,
    /// It waits for a learner, or for its first network.
    WaitingForLearner,
    /// It waits because the queue is full.
    WaitingForQueue,
    /// It waits because the server cannot be reached.
    WaitingForServer,
    /// It waits because the fleet is paused.
    Paused,
    /// It sends its finished games and stops.
    Stopping,
}

impl Doing {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Doing::Starting => "starting",
            Doing::Playing => "playing",
            Doing::PlayingMatches => "playing matches",
            Doing::WaitingForLearner => "waiting for a learner",
            Doing::WaitingForQueue => "waiting: the queue is full",
            Doing::WaitingForServer => "waiting for the server",
            Doing::Paused => "paused",
            Doing::Stopping => "stopping",
        }
    }
}

/// The progress that a worker reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerStatus {
    /// Its name.
    pub worker: String,
    /// Its key, from the subject of the message. Set by the reader.
    pub key: String,
    /// Its program and version.
    pub program: String,
    /// The run that it plays for.
    pub run: String,
    /// Its threads.
    pub threads: usize,
    /// What it is busy with.
    pub doing: Doing,
    /// Finished games.
    pub games: u64,
    /// Searched positions.
    pub positions: u64,
    /// Pairs of games that it played for arenas.
    pub pairs: u64,
    /// Files that the server has acknowledged.
    pub files: u64,
    /// Their samples.
    pub samples: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Training steps of its network.
    pub weights: u64,
    /// Searched positions per second, over the last report.
    pub positions_per_s: f64,
    /// Finished games per second, over the last report.
    pub games_per_s: f64,
    /// Seconds since it last searched a position.
    pub since_played: f64,
    /// Seconds since its last report, by the server's clock. Set by the reader.
    pub since_heard: f64,
}

impl WorkerStatus {
    /// Whether it plays.
    pub fn plays(&self) -> bool {
        self.is_here() && self.since_played < PLAYS_WITHIN && (self.positions > 0 || self.pairs > 0)
    }

    /// Whether it is connected.
    pub fn is_here(&self) -> bool {
        self.since_heard < GONE_AFTER
    }
}

/// All workers that have reported progress, by name.
pub(super) fn workers(said: &[Listed]) -> Vec<WorkerStatus> {
    let mut by_key: BTreeMap<&str, usize> = BTreeMap::new();
    let mut workers = Vec::new();
    for Listed { of: key, name, content, age } in said {
        let Ok(said) = serde_json::from_slice::<WorkerStatus>(content) else {
            continue;
        };
        let count = by_key.entry(key).or_default();
        *count += 1;
        if *count <= MOST_PER_KEY {
            workers.push(WorkerStatus {
                worker: plain(name),
                key: plain(key),
                program: plain(&said.program),
                run: plain(&said.run),
                since_heard: *age,
                since_played: said.since_played + age,
                ..said
            });
        }
    }
    workers.sort_by(|a, b| a.worker.cmp(&b.worker));
    workers
}

/// A name that is safe to show on a terminal.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !letter.is_control());
    letters.take(MOST_NAME).collect()
}

/// The state of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// The server's version.
    pub server: String,
    /// The runs that used the server, the most recent first.
    pub runs: Vec<RunStatus>,
    /// Blocks of pairs of games that arenas wait for.
    pub blocks: u64,
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
    /// Whether its learner runs.
    pub is_here: bool,
    /// Seconds since then.
    pub since_heard: f64,
    /// Training steps of the newest network.
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

/// Reads the status of a fleet. Writes nothing, and needs only permission to read.
pub fn status(link: &Link) -> Result<Status, FleetError> {
    // A learner or an arena that uses the server makes the streams.
    let (lives, entries) = (list(link, LIVES)?, list(link, &format!("KV_{RUNS}"))?);
    let mut runs = Vec::new();
    for entry in entries.iter().filter(|entry| entry.name == "settings") {
        let run = &entry.of;
        let (folder, program) = match read_said(&entry.content) {
            Ok(RunSettings { folder, program, .. }) => (folder, program),
            Err(error) => ("its folder is not known".to_owned(), error.to_string()),
        };
        let life = lives.iter().find(|life| life.of == LEARNER && life.name == *run);
        let newest = entries.iter().find(|entry| entry.of == *run && entry.name == "network");
        let ages = [Some(entry), newest, life].into_iter().flatten().map(|message| message.age);
        let report = life.and_then(|life| serde_json::from_slice(&life.content).ok());
        let newest = newest.and_then(|newest| serde_json::from_slice::<Newest>(&newest.content).ok());
        let queue = look_at(link, &format!("{SAMPLES}{run}"))?.map(|queue| queue.info);
        runs.push(RunStatus {
            run: run.clone(),
            folder,
            program,
            is_here: life.is_some_and(|life| life.age < GONE_AFTER),
            since_heard: ages.fold(f64::INFINITY, f64::min),
            step: newest.map(|newest| newest.step),
            queued: queue.as_ref().map_or(0, |queue| queue.state.messages),
            queued_bytes: queue.as_ref().map_or(0, |queue| queue.state.bytes),
            queue: queue.map_or(0, |queue| queue.config.max_messages.max(0) as u64),
            report: report.unwrap_or_default(),
        });
    }
    runs.sort_by(|a, b| a.since_heard.total_cmp(&b.since_heard));
    let arenas = lives.iter().filter(|life| life.of == ARENA && life.age < GONE_AFTER);
    let blocks = arenas.filter_map(|life| serde_json::from_slice::<u64>(&life.content).ok()).sum();
    let workers = workers(&list(link, PROGRESS)?);
    Ok(Status { server: link.client.server_info().version, runs, blocks, workers })
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "nats-server {}", self.server)?;
        if self.runs.is_empty() {
            writeln!(out, "no learner has used this server so far")?;
        }
        for run in &self.runs {
            let step = run.step.map_or(String::new(), |step| format!(", newest network of step {step}"));
            let since = if run.is_here { String::new() } else { format!(", stopped {} ago", span(run.since_heard)) };
            writeln!(out, "learner: {}, {}{step}{since}, run {}", run.folder, run.program, run.run)?;
            if run.is_here {
                writeln!(out, "arrived: {}", run.report.files_text())?;
            }
            let megabytes = run.queued_bytes as f64 / 1e6;
            writeln!(out, "queue: {} of at most {} files, {megabytes:.1} MB", run.queued, run.queue)?;
        }
        if self.blocks > 0 {
            writeln!(out, "matches: blocks of games to be played: {}", self.blocks)?;
        }
        if self.workers.is_empty() {
            return writeln!(out, "no worker in the last hour");
        }
        let cells = |said: &WorkerStatus| {
            let (games, positions) = if said.is_here() { (said.games_per_s, said.positions_per_s) } else { (0.0, 0.0) };
            vec![
                said.worker.clone(),
                format!("{:.KEY_LETTERS$}", said.key),
                said.threads.to_string(),
                format!("{games:.1}"),
                format!("{positions:.0}"),
                said.samples.to_string(),
                said.weights.to_string(),
                span(said.since_played),
                self.doing(said),
            ]
        };
        let head = ["worker", "key", "threads", "games/s", "positions/s", "samples", "network", "played", "doing"];
        write!(out, "\n{}", table(&head, &[0, 1, 8], self.workers.iter().map(cells)))
    }
}

impl Status {
    /// What a worker does; also for which of several learners, and its program if that is not the learner's.
    fn doing(&self, worker: &WorkerStatus) -> String {
        let mut doing = match (worker.is_here(), worker.plays()) {
            (false, _) => format!("gone, last heard {} ago", span(worker.since_heard)),
            (true, true) => worker.doing.text().to_owned(),
            (true, false) => format!("does nothing: {}", worker.doing.text()),
        };
        if let Some(run) = self.runs.iter().find(|run| run.run == worker.run) {
            if self.runs.iter().filter(|run| run.is_here).count() > 1 {
                doing += &format!(", for {}", run.folder);
            }
            if run.program != worker.program {
                doing += &format!(", {}", worker.program);
            }
        }
        doing
    }

    /// All numbers of the status as text for Prometheus, under the names that they have in its JSON.
    pub fn metrics(&self) -> String {
        let mut metrics = BTreeMap::new(); // the lines of each, by its name, because they must stand together
        add(&mut metrics, "jarmo_blocks", "", &self.blocks);
        for run in &self.runs {
            add(&mut metrics, "jarmo_run", &format!("{{run={:?}}}", run.run), run);
        }
        for worker in &self.workers {
            let labels = format!("{{worker={:?},key={:?}}}", worker.worker, worker.key);
            add(&mut metrics, "jarmo_worker", &labels, worker);
        }
        metrics.into_values().collect()
    }
}

fn add(metrics: &mut BTreeMap<String, String>, name: &str, labels: &str, content: &impl Serialize) {
    let number = match serde_json::to_value(content).expect("a status is plain data") {
        Value::Object(fields) => {
            for (field, value) in fields {
                add(metrics, &format!("{name}_{field}"), labels, &value);
            }
            return;
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(is_so) => u8::from(is_so).to_string(),
        _ => return,
    };
    let lines = metrics.entry(name.to_owned()).or_default();
    *lines += &format!("{name}{labels} {number}\n");
}
