//! A look at a fleet from outside: the learner, the queue, the workers.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::networks::Newest;
use super::places::{Listed, PROGRESS, RUNS, SAMPLES, list, look_at};
use super::progress::{ARENA, GONE_AFTER, LEARNER, WorkerStatus, workers};
use super::settings::{RunSettings, read_said};
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

/// Looks at a fleet. Writes nothing, and needs no right but to read.
pub fn status(link: &Link) -> Result<Status, FleetError> {
    // A learner or an arena that uses the server makes the streams.
    let said = list(link, PROGRESS)?;
    let arenas = said.iter().filter(|said| said.of == ARENA && said.age < GONE_AFTER);
    let blocks = arenas.filter_map(|said| serde_json::from_slice::<u64>(&said.content).ok());
    Ok(Status {
        server: link.client.server_info().version,
        runs: runs(link, &list(link, &format!("KV_{RUNS}"))?, &said)?,
        blocks: blocks.sum(),
        workers: workers(&said),
    })
}

fn runs<'a>(link: &Link, entries: &'a [Listed], said: &'a [Listed]) -> Result<Vec<RunStatus>, FleetError> {
    let find =
        |list: &'a [Listed], of: &str, name: &str| list.iter().find(|entry| entry.of == of && entry.name == name);
    let mut runs = Vec::new();
    for entry in entries.iter().filter(|entry| entry.name == "settings") {
        let run = &entry.of;
        let Ok(settings) = read_said::<RunSettings>(&entry.content) else {
            continue;
        };
        let (life, newest) = (find(said, LEARNER, run), find(entries, run, "network"));
        let ages = [Some(entry), newest, life].into_iter().flatten().map(|message| message.age);
        let report = life.and_then(|life| serde_json::from_slice(&life.content).ok());
        let newest = newest.and_then(|newest| serde_json::from_slice::<Newest>(&newest.content).ok());
        let queue = look_at(link, &format!("{SAMPLES}{run}"))?;
        let (queued, queued_bytes, queue) = queue.map_or((0, 0, 0), |(queue, _)| {
            (queue.state.messages, queue.state.bytes, queue.config.max_messages.max(0) as u64)
        });
        runs.push(RunStatus {
            run: run.clone(),
            folder: settings.folder,
            program: settings.program,
            is_here: life.is_some_and(|life| life.age < GONE_AFTER),
            since_heard: ages.fold(f64::INFINITY, f64::min),
            step: newest.map(|newest| newest.step),
            queued,
            queued_bytes,
            queue,
            report: report.unwrap_or_default(),
        });
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
        if self.blocks > 0 {
            writeln!(out, "matches: blocks of games to be played: {}", self.blocks)?;
        }
        if self.workers.is_empty() {
            return writeln!(out, "no worker in the last hour");
        }
        let width = self.workers.iter().map(|worker| worker.worker.len()).fold("worker".len(), usize::max);
        writeln!(
            out,
            "\n{:width$} {:KEY_LETTERS$} {:>7} {:>7} {:>11} {:>9} {:>7} {:>6}  doing",
            "worker", "key", "threads", "games/s", "positions/s", "samples", "network", "played"
        )?;
        for said in &self.workers {
            let WorkerStatus { worker, key, threads, samples, weights, games_per_s, positions_per_s, .. } = said;
            let (games, positions) = if said.is_here() { (*games_per_s, *positions_per_s) } else { (0.0, 0.0) };
            let (played, doing) = (ago(said.since_played), self.doing(said));
            writeln!(
                out,
                "{worker:width$} {key:KEY_LETTERS$.KEY_LETTERS$} {threads:>7} {games:>7.1} {positions:>11.0} {samples:>9} \
                 {weights:>7} {played:>6}  {doing}"
            )?;
        }
        Ok(())
    }
}

impl Status {
    /// What a worker does; also for which of several learners, and its program if that is not the learner's.
    fn doing(&self, worker: &WorkerStatus) -> String {
        let mut doing = match (worker.is_here(), worker.plays()) {
            (false, _) => format!("gone, last heard {} ago", ago(worker.since_heard)),
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
        let mut metrics = Metrics::new();
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

impl fmt::Display for RunStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunStatus { run, folder, program, queued, queue, .. } = self;
        let step = self.step.map_or(String::new(), |step| format!(", newest network of step {step}"));
        let since = match self.is_here {
            true => String::new(),
            false => format!(", stopped {} ago", ago(self.since_heard)),
        };
        writeln!(out, "learner: {folder}, {program}{step}{since}, run {run}")?;
        if self.is_here {
            writeln!(out, "arrived: {}", self.report.files_text())?;
        }
        writeln!(out, "queue: {queued} of at most {queue} files, {:.1} MB", self.queued_bytes as f64 / 1e6)
    }
}

fn ago(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}

/// The lines of each metric of Prometheus, by its name. They must stand together.
type Metrics = BTreeMap<String, String>;

fn add(metrics: &mut Metrics, name: &str, labels: &str, content: &impl Serialize) {
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
