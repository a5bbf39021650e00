//! What each worker does, as it says itself, and when it last got on.

use std::time::Duration;

use async_nats::jetstream::kv::Store;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::places::{WORKERS, ages};
use super::{FleetError, Link};

/// A worker that has played nothing for this long does nothing, whatever it says.
const PLAYS_WITHIN: f64 = 30.0;

/// A worker or a learner that has said nothing for this long is gone.
pub(super) const GONE_AFTER: f64 = 15.0;

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
            Doing::Stopping => "stopping",
        }
    }
}

/// What a worker says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Its name.
    pub worker: String,
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

impl Progress {
    /// Whether it plays.
    pub fn plays(&self) -> bool {
        self.is_here() && self.since_played < PLAYS_WITHIN && self.positions + self.pairs > 0
    }

    /// Whether it is connected.
    pub fn is_here(&self) -> bool {
        self.since_heard < GONE_AFTER
    }
}

/// All workers that a server has heard of in the last hour.
pub struct Workers {
    store: Store,
}

impl Workers {
    /// The workers of a server.
    pub fn of(link: &Link) -> Result<Workers, FleetError> {
        let store = link.wait(link.context().get_key_value(WORKERS));
        let store = store.map_err(|error| {
            FleetError::new(format!(
                "no learner and no arena has used this server so far: {error}"
            ))
        })?;
        Ok(Workers { store })
    }

    pub(super) fn from(store: Store) -> Workers {
        Workers { store }
    }

    /// Their progress, by name.
    pub fn list(&self, link: &Link) -> Result<Vec<Progress>, FleetError> {
        const MOST: Duration = Duration::from_secs(20);
        let store = &self.store;
        let read = async {
            let mut entries = Vec::new();
            let mut keys = store.keys().await.map_err(|error| error.to_string())?;
            while let Some(key) = keys.next().await {
                let key = key.map_err(|error| error.to_string())?;
                let entry = store.entry(key).await.map_err(|error| error.to_string())?;
                entries.extend(entry);
            }
            Ok::<_, String>(entries)
        };
        let entries = link.wait_for(MOST, read)?;
        let ages = ages(link, store, &entries)?;
        let mut workers: Vec<Progress> = entries
            .iter()
            .zip(ages)
            .filter_map(|(entry, age)| {
                let mut progress: Progress = serde_json::from_slice(&entry.value).ok()?;
                progress.since_heard = age;
                progress.since_played += age;
                Some(progress)
            })
            .collect();
        workers.sort_by(|a, b| a.worker.cmp(&b.worker));
        Ok(workers)
    }
}
