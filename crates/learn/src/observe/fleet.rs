//! Facts about the machines that play for a run, for reports.

use serde::{Deserialize, Serialize};

/// Counters and speeds of the machines that play for a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetReport {
    /// Workers that have played within the last 30 seconds.
    pub playing: usize,
    /// Connected workers that have not played within the last 30 seconds.
    pub idle: usize,
    /// Files that wait at the server.
    pub queued: u64,
    /// The most files that may wait there.
    pub queue: u64,
    /// What the run counts.
    #[serde(flatten)]
    pub counted: FleetCounts,
    /// Files that were dropped because they had arrived before.
    pub duplicates: u64,
    /// Games that were dropped because they had arrived before in another file.
    pub repeated: u64,
    /// Files that were dropped because their key is blocked.
    pub blocked: u64,
    /// Files in quarantine, because they are damaged or break the rules.
    pub bad: u64,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Whether the server can be reached.
    pub connected: bool,
}

/// What a run counts of the files that it takes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetCounts {
    /// Files added to the replay buffer.
    pub files: u64,
    /// Their samples.
    pub samples: u64,
    /// Files that were dropped because their weights were too old.
    pub stale: u64,
    /// Mean age of the weights that played a file, in training steps, since the last line of metrics.
    pub age: f64,
    /// The highest age since the last line of metrics.
    pub oldest: u64,
    /// Samples per second since the last line of metrics.
    pub samples_per_s: f64,
    /// Bytes per second since the last line of metrics.
    pub bytes_per_s: f64,
}

impl FleetReport {
    /// Whether the learner is the bottleneck: files wait for it, and more workers would not help.
    pub fn is_behind(&self) -> bool {
        self.queue > 0 && self.queued >= self.queue / 2
    }

    /// Who plays, and what waits.
    pub fn workers_text(&self) -> String {
        let FleetReport { playing, idle, queued, queue, .. } = self;
        if !self.connected {
            return "the server cannot be reached; trying again".to_owned();
        }
        let workers = match (playing, idle) {
            (0, 0) => "no worker is connected".to_owned(),
            (_, 0) => format!("workers: {playing} play"),
            _ => format!("workers: {playing} play, {idle} do nothing"),
        };
        let files = format!("{queued} of at most {queue} files wait");
        match self.is_behind() {
            true => format!("the learner is the limit: {files}; {workers}"),
            false => format!("{workers}; {files}"),
        }
    }

    /// What arrived, how old its weights were, and what was dropped.
    pub fn files_text(&self) -> String {
        let FleetCounts { files, stale, age, oldest, samples_per_s, bytes_per_s, .. } = self.counted;
        let kilobytes = bytes_per_s / 1000.0;
        let speed = format!("{samples_per_s:.0} samples/s, {kilobytes:.0} kB/s");
        let arrived = format!("{speed}; weights {age:.0} steps old, at most {oldest}; files: {files}");
        let dropped: Vec<String> = [
            (stale, "too old"),
            (self.duplicates, "repeated"),
            (self.repeated, "repeated games"),
            (self.blocked, "of blocked keys"),
            (self.bad, "bad"),
        ]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
        // What is wrong comes first: a narrow terminal shows the beginning of the line.
        match dropped.is_empty() {
            true => arrived,
            false => format!("dropped: {}; {arrived}", dropped.join(", ")),
        }
    }
}
