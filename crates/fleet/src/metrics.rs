//! The status as text for Prometheus.

use std::fmt::Write as _;

use super::progress::WorkerStatus;
use super::status::{RunStatus, Status};

/// What is counted for a run: name, kind, help, value.
type Metric<T> = (&'static str, &'static str, &'static str, fn(&T) -> f64);

const RUNS: [Metric<RunStatus>; 9] = [
    ("learner_up", "gauge", "Whether the learner runs", |run| {
        f64::from(u8::from(run.is_here))
    }),
    (
        "step",
        "gauge",
        "Learning steps of the newest network",
        |run| run.step.unwrap_or(0) as f64,
    ),
    ("queued_files", "gauge", "Files that wait", |run| {
        run.queued as f64
    }),
    (
        "queue_limit",
        "gauge",
        "The most files that may wait",
        |run| run.queue as f64,
    ),
    ("files_total", "counter", "Files taken", |run| {
        run.report.files as f64
    }),
    ("samples_total", "counter", "Samples taken", |run| {
        run.report.samples as f64
    }),
    ("bytes_total", "counter", "Bytes of files", |run| {
        run.report.bytes as f64
    }),
    ("bad_files_total", "counter", "Files in quarantine", |run| {
        run.report.bad as f64
    }),
    ("stale_files_total", "counter", "Files too old", |run| {
        run.report.stale as f64
    }),
];

const WORKERS: [Metric<WorkerStatus>; 6] = [
    (
        "worker_up",
        "gauge",
        "Whether the worker reports",
        |worker| f64::from(u8::from(worker.is_here())),
    ),
    ("worker_playing", "gauge", "Whether it plays", |worker| {
        f64::from(u8::from(worker.plays()))
    }),
    ("worker_threads", "gauge", "Its threads", |worker| {
        worker.threads as f64
    }),
    (
        "worker_positions_total",
        "counter",
        "Searched positions",
        |worker| worker.positions as f64,
    ),
    (
        "worker_games_total",
        "counter",
        "Finished games",
        |worker| worker.games as f64,
    ),
    (
        "worker_step",
        "gauge",
        "Learning steps of its network",
        |worker| worker.weights as f64,
    ),
];

impl Status {
    /// The status as text for Prometheus.
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        let run = |run: &RunStatus| format!("run={:?}", run.run);
        add(&mut text, &RUNS, &self.runs, run);
        let worker = |worker: &WorkerStatus| {
            let WorkerStatus { worker, key, .. } = worker;
            format!("worker={worker:?},key={key:?}")
        };
        add(&mut text, &WORKERS, &self.workers, worker);
        let blocks = self.blocks;
        let _ = writeln!(
            text,
            "# HELP jarmo_match_blocks Blocks of games that arenas wait for\n\
             # TYPE jarmo_match_blocks gauge\njarmo_match_blocks {blocks}"
        );
        text
    }
}

fn add<T>(text: &mut String, metrics: &[Metric<T>], things: &[T], label: impl Fn(&T) -> String) {
    for (name, kind, help, value) in metrics {
        let _ = writeln!(
            text,
            "# HELP jarmo_{name} {help}\n# TYPE jarmo_{name} {kind}"
        );
        for thing in things {
            let _ = writeln!(text, "jarmo_{name}{{{}}} {}", label(thing), value(thing));
        }
    }
}
