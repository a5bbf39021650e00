//! Where things are at the server: streams, buckets and subjects, and their limits.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::{Entry, Store};
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, kv};

use super::game_file::MOST_BYTES;
use super::{FleetError, Link};

/// The version of everything that is said on the wire. Both sides must have the same one.
pub(super) const PROTOCOL: u32 = 1;

/// The work queue of files of games.
pub(super) const SAMPLES: &str = "JARMO_SAMPLES";

/// The first part of its subjects; the user and the process follow.
pub(super) const SAMPLES_SUBJECT: &str = "jarmo.samples";

/// The only consumer of that queue.
const LEARNER: &str = "learner";

/// The bucket with what workers need to know.
pub(super) const RUN: &str = "jarmo_run";

/// Its keys: the settings of the run, the newest network, and a sign of life of the learner.
pub(super) const CARD: &str = "card";
pub(super) const NETWORK: &str = "network";
pub(super) const ALIVE: &str = "learner";

/// The key of an empty entry that tells the server's time, in any bucket.
const NOW: &str = "now";

/// The bucket with the progress of each worker.
pub(super) const WORKERS: &str = "jarmo_workers";

/// The bucket of networks.
pub(super) const NETWORKS: &str = "jarmo_networks";

/// The work queue of pairs of games, and the first part of its subjects; the tournament follows.
pub(super) const PAIRS: &str = "JARMO_PAIRS";
pub(super) const PAIRS_SUBJECT: &str = "jarmo.pairs";

/// The only consumer of that queue, shared by all workers.
pub(super) const PLAYERS: &str = "players";

/// The games of pairs, and the first part of their subjects; the user and the tournament follow.
const RESULTS: &str = "JARMO_RESULTS";
pub(super) const RESULTS_SUBJECT: &str = "jarmo.results";

/// The bucket of the agents that play matches, by the hash of their files.
pub(super) const AGENTS: &str = "jarmo_agents";

/// The most answers that may wait for arenas.
const MOST_RESULTS: i64 = 100_000;

/// A worker that plays a pair says so several times in this time; otherwise another worker gets the pair.
const PAIR_WAIT: Duration = Duration::from_secs(15);

/// What a lost arena leaves at the server is deleted after this time.
const MATCH_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Agents are written again by every arena, and deleted this long after the last one.
const AGENT_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long the server recognises a repeated file by itself. The learner recognises it at any time.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// A file that the learner has not acknowledged comes again after this time.
const ACK_WAIT: Duration = Duration::from_secs(30);

/// A worker is forgotten this long after its last sign of life.
const WORKER_AGE: Duration = Duration::from_secs(60 * 60);

/// What the learner reads and writes.
pub(super) struct LearnerPlaces {
    pub(super) samples: Stream,
    pub(super) files: PullConsumer,
    pub(super) run: Store,
    pub(super) workers: Store,
    pub(super) networks: ObjectStore,
}

impl LearnerPlaces {
    /// Finds all places, and makes those that are missing. At most `queue` files wait.
    pub(super) async fn open(context: &Context, queue: u64) -> Result<LearnerPlaces, FleetError> {
        let samples = stream::Config {
            name: SAMPLES.to_owned(),
            subjects: vec![format!("{SAMPLES_SUBJECT}.>")],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            max_messages: queue.min(i64::MAX as u64) as i64,
            max_message_size: (MOST_BYTES + 4096) as i32, // with headers
            duplicate_window: DUPLICATE_WINDOW,
            storage: StorageType::File,
            ..stream::Config::default()
        };
        let samples = make_stream(context, samples).await?;
        let consumer = pull::Config {
            durable_name: Some(LEARNER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            ..pull::Config::default()
        };
        let files = samples.get_or_create_consumer(LEARNER, consumer).await;
        let files = files.map_err(|error| failed("consumer `learner`", &error))?;
        remove_acknowledged(&samples, &files)
            .await
            .map_err(|error| failed(SAMPLES, &error))?;
        Ok(LearnerPlaces {
            files,
            run: bucket(context, RUN, Duration::ZERO)
                .await
                .map_err(|error| failed(RUN, &error))?,
            workers: bucket(context, WORKERS, WORKER_AGE)
                .await
                .map_err(|error| failed(WORKERS, &error))?,
            networks: objects(context, NETWORKS, Duration::ZERO)
                .await
                .map_err(|error| failed(NETWORKS, &error))?,
            samples,
        })
    }
}

/// What an arena reads and writes.
pub(super) struct ArenaPlaces {
    pub(super) pairs: Stream,
    pub(super) results: Stream,
    pub(super) answers: PullConsumer, // to this tournament
    pub(super) agents: ObjectStore,
}

impl ArenaPlaces {
    /// Finds all places, and makes those that are missing, for a tournament of this name.
    pub(super) async fn open(
        context: &Context,
        tournament: &str,
    ) -> Result<ArenaPlaces, FleetError> {
        let queue = |name: &str, subject: &str| stream::Config {
            name: name.to_owned(),
            subjects: vec![format!("{subject}.>")],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            max_message_size: (MOST_BYTES + 4096) as i32, // with headers
            max_age: MATCH_AGE,
            duplicate_window: DUPLICATE_WINDOW,
            storage: StorageType::File,
            ..stream::Config::default()
        };
        let pairs = make_stream(context, queue(PAIRS, PAIRS_SUBJECT)).await?;
        let players = pull::Config {
            durable_name: Some(PLAYERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: PAIR_WAIT,
            max_ack_pending: -1, // workers may be many
            ..pull::Config::default()
        };
        let players = pairs.get_or_create_consumer(PLAYERS, players).await;
        players.map_err(|error| failed("consumer `players`", &error))?;
        let results = stream::Config {
            max_messages: MOST_RESULTS,
            ..queue(RESULTS, RESULTS_SUBJECT)
        };
        let results = make_stream(context, results).await?;
        let answers = pull::Config {
            durable_name: Some(tournament.to_owned()),
            filter_subject: ArenaPlaces::answers_to(tournament),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            inactive_threshold: MATCH_AGE,
            ..pull::Config::default()
        };
        let answers = results.get_or_create_consumer(tournament, answers).await;
        let answers = answers.map_err(|error| failed("consumer of results", &error))?;
        // Workers report their progress there, with and without a learner.
        bucket(context, WORKERS, WORKER_AGE)
            .await
            .map_err(|error| failed(WORKERS, &error))?;
        let agents = objects(context, AGENTS, AGENT_AGE).await;
        Ok(ArenaPlaces {
            pairs,
            results,
            answers,
            agents: agents.map_err(|error| failed(AGENTS, &error))?,
        })
    }

    /// The subjects of all answers to a tournament.
    pub(super) fn answers_to(tournament: &str) -> String {
        format!("{RESULTS_SUBJECT}.*.{tournament}")
    }
}

/// The seconds since each entry was written, by the server's clock alone. Writes to their bucket.
pub(super) fn ages(link: &Link, bucket: &Store, entries: &[Entry]) -> Result<Vec<f64>, FleetError> {
    link.wait(bucket.put(NOW, Vec::new().into()))?;
    let now = link.wait(bucket.entry(NOW))?;
    let now = now.ok_or_else(|| FleetError::new("the server forgets what is in its bucket"))?;
    let age = |entry: &Entry| (now.created - entry.created).as_seconds_f64();
    Ok(entries.iter().map(age).collect())
}

async fn make_stream(context: &Context, config: stream::Config) -> Result<Stream, FleetError> {
    let name = config.name.clone();
    let made = context.create_or_update_stream(config).await;
    made.map_err(|error| failed(&name, &error))?;
    let stream = context.get_stream(&name).await;
    stream.map_err(|error| failed(&name, &error))
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> FleetError {
    FleetError::new(format!(
        "the server's {what}: {error}; the server needs JetStream, and this user the right to use it \
         (see docs/fleet.md)"
    ))
}

/// Deletes files that were acknowledged and are still there. A server whose disk was full keeps them, and they would take
/// room in the queue for ever.
async fn remove_acknowledged(samples: &Stream, files: &PullConsumer) -> Result<(), String> {
    let acknowledged = files.cached_info().ack_floor.stream_sequence;
    let purged = samples.purge().sequence(acknowledged + 1).await;
    purged.map(|_| ()).map_err(|error| error.to_string())
}

async fn bucket(context: &Context, name: &str, max_age: Duration) -> Result<Store, String> {
    if let Ok(store) = context.get_key_value(name).await {
        return Ok(store);
    }
    let config = kv::Config {
        bucket: name.to_owned(),
        history: 1,
        max_age,
        storage: StorageType::File,
        ..kv::Config::default()
    };
    let made = context.create_key_value(config).await;
    made.map_err(|error| error.to_string())
}

async fn objects(context: &Context, name: &str, max_age: Duration) -> Result<ObjectStore, String> {
    if let Ok(store) = context.get_object_store(name).await {
        return Ok(store);
    }
    let config = object_store::Config {
        bucket: name.to_owned(),
        max_age,
        storage: StorageType::File,
        ..object_store::Config::default()
    };
    let made = context.create_object_store(config).await;
    made.map_err(|error| error.to_string())
}
