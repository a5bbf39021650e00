//! Where things are at the server: streams, buckets and subjects, and their limits.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, kv};

use super::FleetError;
use super::game_file::MOST_BYTES;

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

/// The bucket with the progress of each worker.
pub(super) const WORKERS: &str = "jarmo_workers";

/// The bucket of networks.
pub(super) const NETWORKS: &str = "jarmo_networks";

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
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            FleetError::new(format!(
                "the server's {what}: {error}; the server needs JetStream, and this user the right to use it \
                 (see docs/fleet.md)"
            ))
        };
        context
            .create_or_update_stream(samples)
            .await
            .map_err(|error| failed(SAMPLES, &error))?;
        let samples = context.get_stream(SAMPLES).await;
        let samples = samples.map_err(|error| failed(SAMPLES, &error))?;
        let consumer = pull::Config {
            durable_name: Some(LEARNER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            ..pull::Config::default()
        };
        let files = samples.get_or_create_consumer(LEARNER, consumer).await;
        let files = files.map_err(|error| failed("consumer `learner`", &error))?;
        Ok(LearnerPlaces {
            files,
            run: bucket(context, RUN, Duration::ZERO)
                .await
                .map_err(|error| failed(RUN, &error))?,
            workers: bucket(context, WORKERS, WORKER_AGE)
                .await
                .map_err(|error| failed(WORKERS, &error))?,
            networks: networks(context)
                .await
                .map_err(|error| failed(NETWORKS, &error))?,
            samples,
        })
    }
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

async fn networks(context: &Context) -> Result<ObjectStore, String> {
    if let Ok(store) = context.get_object_store(NETWORKS).await {
        return Ok(store);
    }
    let config = object_store::Config {
        bucket: NETWORKS.to_owned(),
        storage: StorageType::File,
        ..object_store::Config::default()
    };
    let made = context.create_object_store(config).await;
    made.map_err(|error| error.to_string())
}
