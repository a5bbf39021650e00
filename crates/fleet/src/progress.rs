//! What all workers are to do, and what each says that it does.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::places::{Listed, ORDERS, find, runs};
use super::{FleetError, Link, json};

/// In place of a key: what learners and arenas say.
pub(super) const LEARNER: &str = "learner";
pub(super) const ARENA: &str = "arena";

pub(super) const REPORT_EVERY: Duration = Duration::from_secs(5); // workers and arenas
const PLAYS_WITHIN: f64 = 30.0; // seconds; a worker that has played nothing for longer does nothing, whatever it says
pub(super) const GONE_AFTER: f64 = 15.0; // seconds without a word of a worker, a learner or an arena
const MOST_PER_KEY: usize = 4096; // workers that are listed; more are not real
const MOST_NAME: usize = 64; // letters

/// What all workers are to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orders {
    /// Play.
    #[default]
    Play,
    /// Send what they have, and wait.
    Pause,
    /// Send what they have, and stop.
    Drain,
}

impl Orders {
    /// Tells all workers, with the learner's key. It holds for later ones as well.
    pub fn give(self, link: &Link) -> Result<(), FleetError> {
        let runs = find(link, runs(&link.context))?;
        link.wait(runs.put(ORDERS, json(&self).into())).map(|_| ())
    }

    /// Reads orders. Those of a newer version are none.
    pub(super) fn read(bytes: Option<&[u8]>) -> Orders {
        bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }
}

/// What a worker is busy with.
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
    /// It sends what it has and stops.
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

/// What a worker says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerStatus {
    /// Its name.
    pub worker: String,
    /// The key that it has, as the server knows it. Set by the reader.
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
    /// Files that the server has.
    pub files: u64,
    /// Their samples.
    pub samples: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Learning steps of its network.
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

/// All workers that said something, by name.
pub(super) fn workers(said: &[Listed]) -> Vec<WorkerStatus> {
    let mut by_key: BTreeMap<String, usize> = BTreeMap::new();
    let mut workers = Vec::new();
    for message in said {
        let Listed { of: key, name, .. } = message;
        if key == LEARNER || key == ARENA {
            continue;
        }
        let Ok(said) = serde_json::from_slice::<WorkerStatus>(&message.content) else {
            continue;
        };
        let count = by_key.entry(key.clone()).or_default();
        *count += 1;
        if *count <= MOST_PER_KEY {
            workers.push(WorkerStatus {
                worker: plain(name),
                key: plain(key),
                program: plain(&said.program),
                run: plain(&said.run),
                since_heard: message.age,
                since_played: said.since_played + message.age,
                ..said
            });
        }
    }
    workers.sort_by(|a, b| a.worker.cmp(&b.worker));
    workers
}

/// A name that can be shown on a terminal, whoever wrote it.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !letter.is_control());
    letters.take(MOST_NAME).collect()
}
