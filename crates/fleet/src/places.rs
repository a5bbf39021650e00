//! Where things are at the server: streams, buckets and subjects, and their limits.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, Message, kv};

use super::game_file::MOST_BYTES;
use super::link::fetch;
use super::{FleetError, Link};

/// The version of everything that is said on the wire. Both sides must have the same one.
pub(super) const PROTOCOL: u32 = 2;

/// The bucket with what workers need to know of each run.
pub(super) const RUNS: &str = "jarmo_runs";

/// Its key with the identity of the run that workers play for if they are told none.
pub(super) const CURRENT: &str = "current";

/// Its key with the keys of users whose files are dropped.
pub(super) const BLOCKED: &str = "blocked";

/// The bucket of networks.
pub(super) const NETWORKS: &str = "jarmo_networks";

/// The stream of what each worker says of itself.
pub(super) const PROGRESS: &str = "JARMO_PROGRESS";

/// The work queue of pairs of games.
pub(super) const PAIRS: &str = "JARMO_PAIRS";

/// The only consumer of that queue, shared by all workers.
pub(super) const PLAYERS: &str = "players";

/// The bucket of the agents that play matches, by the hash of their files.
pub(super) const AGENTS: &str = "jarmo_agents";

/// The beginning of the names of the work queues of files of games, one per run.
pub(super) const SAMPLES: &str = "JARMO_SAMPLES_";

/// The only consumer of such a queue.
const LEARNER: &str = "learner";

/// The most workers that are listed, and the most bytes of what each says of itself.
const MOST_WORKERS: i64 = 20_000;
const MOST_PROGRESS: i32 = 2048;

/// A worker that plays a pair says so several times in this time; otherwise another worker gets the pair.
const PAIR_WAIT: Duration = Duration::from_secs(15);

/// The most workers that wait for pairs at a time.
const MOST_WAITING: i64 = 1 << 16;

/// What a lost arena leaves at the server is deleted after this time.
const MATCH_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Agents are written again by every arena, networks by every learner. They are deleted this long after the last one.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long the server recognises a repeated file by itself. The learner recognises it at any time.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// A file that the learner has not acknowledged comes again after this time.
const ACK_WAIT: Duration = Duration::from_secs(30);

/// A worker is forgotten this long after its last sign of life.
const WORKER_AGE: Duration = Duration::from_secs(60 * 60);

/// The most messages of one request of a list.
const LIST_BATCH: usize = 200;

/// The key with the settings of a run.
pub(super) fn settings_of(run: &str) -> String {
    format!("{run}.settings")
}

/// The key that names the newest network of a run.
pub(super) fn network_of(run: &str) -> String {
    format!("{run}.network")
}

/// The key with the sign of life of a run's learner.
pub(super) fn learner_of(run: &str) -> String {
    format!("{run}.learner")
}

/// The subject of a user's files of games. A part may be `*`.
pub(super) fn samples_subject(run: &str, user: &str) -> String {
    format!("jarmo.samples.{run}.{user}")
}

/// The subject of what a user's worker says of itself. A part may be `*`.
pub(super) fn progress_subject(user: &str, worker: &str) -> String {
    format!("jarmo.progress.{user}.{worker}")
}

/// The subject of the blocks of pairs of a tournament.
pub(super) fn pairs_subject(tournament: &str) -> String {
    format!("jarmo.pairs.{tournament}")
}

/// The subject on which an arena takes the games of a user. A part may be `*`.
pub(super) fn results_subject(tournament: &str, user: &str) -> String {
    format!("jarmo.results.{tournament}.{user}")
}

/// What the learner reads and writes.
#[derive(Clone)]
pub(super) struct LearnerPlaces {
    pub(super) samples: Stream,
    pub(super) files: PullConsumer,
    pub(super) runs: Store,
    pub(super) progress: Stream,
    pub(super) networks: ObjectStore,
}

impl LearnerPlaces {
    /// Finds all places of a run, and makes those that are missing. At most `queue` files wait; those of one key take at
    /// most half of the room.
    pub(super) async fn open(
        context: &Context,
        run: &str,
        queue: u64,
    ) -> Result<LearnerPlaces, FleetError> {
        let queue = queue.min(i64::MAX as u64) as i64;
        let samples = stream::Config {
            name: format!("{SAMPLES}{run}"),
            subjects: vec![samples_subject(run, "*")],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            max_messages: queue,
            max_messages_per_subject: (queue + 1) / 2,
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
            runs: runs(context).await?,
            progress: make_progress(context).await?,
            networks: objects(context, NETWORKS).await?,
            samples,
        })
    }
}

/// What an arena writes.
pub(super) struct ArenaPlaces {
    pub(super) pairs: Stream,
    pub(super) agents: ObjectStore,
}

impl ArenaPlaces {
    /// Finds all places, and makes those that are missing.
    pub(super) async fn open(context: &Context) -> Result<ArenaPlaces, FleetError> {
        let pairs = stream::Config {
            name: PAIRS.to_owned(),
            subjects: vec![pairs_subject("*")],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            max_message_size: (MOST_BYTES + 4096) as i32, // with headers
            max_age: MATCH_AGE,
            duplicate_window: DUPLICATE_WINDOW,
            storage: StorageType::File,
            ..stream::Config::default()
        };
        let pairs = make_stream(context, pairs).await?;
        let players = pull::Config {
            durable_name: Some(PLAYERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: PAIR_WAIT,
            max_ack_pending: -1, // workers may be many
            max_waiting: MOST_WAITING,
            ..pull::Config::default()
        };
        let players = pairs.get_or_create_consumer(PLAYERS, players).await;
        players.map_err(|error| failed("consumer `players`", &error))?;
        // Workers report their progress there, with and without a learner.
        make_progress(context).await?;
        Ok(ArenaPlaces {
            pairs,
            agents: objects(context, AGENTS).await?,
        })
    }
}

/// The newest message of each subject of a stream, with their ages in seconds by the server's clock.
pub(super) fn newest_messages(
    link: &Link,
    stream: &Stream,
) -> Result<Vec<(Message, f64)>, FleetError> {
    let consumer = pull::Config {
        deliver_policy: DeliverPolicy::LastPerSubject,
        filter_subject: ">".to_owned(), // the server wants one
        ack_policy: AckPolicy::None,
        memory_storage: true,
        inactive_threshold: Duration::from_secs(10),
        ..pull::Config::default()
    };
    let consumer = link.wait(stream.create_consumer(consumer))?;
    let info = consumer.cached_info();
    let (now, count) = (info.created, info.num_pending as usize);
    let mut list = Vec::with_capacity(count);
    while list.len() < count {
        let most = LIST_BATCH.min(count - list.len());
        let messages = link.wait(fetch(&consumer, most, Duration::from_secs(2)))?;
        if messages.is_empty() {
            break; // the others have been replaced meanwhile
        }
        for message in messages {
            let info = message.info().map_err(FleetError::new)?;
            let age = now - info.published;
            let age = age.as_seconds_f64().max(0.0);
            list.push((message, age));
        }
    }
    Ok(list)
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

/// The stream of progress is in memory and forgets the oldest, so that no worker can take room from anything else. Its
/// subjects cannot be erased by a header, because it is no bucket.
async fn make_progress(context: &Context) -> Result<Stream, FleetError> {
    let config = stream::Config {
        name: PROGRESS.to_owned(),
        subjects: vec![progress_subject("*", "*")],
        max_messages: MOST_WORKERS,
        max_messages_per_subject: 1,
        max_message_size: MOST_PROGRESS,
        max_age: WORKER_AGE,
        storage: StorageType::Memory,
        ..stream::Config::default()
    };
    make_stream(context, config).await
}

/// The bucket of all runs.
pub(super) async fn runs(context: &Context) -> Result<Store, FleetError> {
    let config = kv::Config {
        bucket: RUNS.to_owned(),
        history: 1,
        storage: StorageType::File,
        ..kv::Config::default()
    };
    let made = context.create_or_update_key_value(config).await;
    made.map_err(|error| failed(RUNS, &error))
}

async fn objects(context: &Context, name: &str) -> Result<ObjectStore, FleetError> {
    if let Ok(store) = context.get_object_store(name).await {
        return Ok(store);
    }
    let config = object_store::Config {
        bucket: name.to_owned(),
        max_age: KEPT,
        storage: StorageType::File,
        ..object_store::Config::default()
    };
    let made = context.create_object_store(config).await;
    made.map_err(|error| failed(name, &error))
}
