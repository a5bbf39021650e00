//! The streams, buckets and subjects at the server, their limits, and the transfer of large objects.

use std::time::Duration;

use async_nats::Message;
use async_nats::datetime::parse_rfc3339;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::{self, ObjectInfo, ObjectMetadata, ObjectStore};
use async_nats::jetstream::response::Response;
use async_nats::jetstream::stream::{self, DirectGetErrorKind, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, ErrorCode, kv};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};

use super::game_file::{MOST_BYTES, bytes_of, compress, decompress, planes};
use super::{FleetError, Link};

/// The version of the protocol. Both sides must have the same version.
pub(super) const PROTOCOL: u32 = 5;

/// The bucket with the data of each run that workers need, and its keys that belong to no run.
pub(super) const RUNS: &str = "jarmo_runs";
pub(super) const CURRENT: &str = "current"; // the run that workers play for if they are told none
pub(super) const BLOCKED: &str = "blocked"; // the keys of users whose files are dropped
pub(super) const ORDERS: &str = "orders"; // what all workers are to do

pub(super) const NETWORKS: &str = "jarmo_networks"; // a bucket
pub(super) const AGENTS: &str = "jarmo_agents"; // a bucket: those that play matches, by the hash of their files
pub(super) const PROGRESS: &str = "JARMO_PROGRESS"; // a stream: what each worker says of itself
pub(super) const LIVES: &str = "JARMO_LIVES"; // a stream: what each learner and arena says of itself
pub(super) const SAMPLES: &str = "JARMO_SAMPLES_"; // and the run: a work queue of files of games
const LEARNER: &str = "learner-"; // and the holder of its lease: the only consumer of such a queue

const MOST_WORKERS: i64 = 20_000; // that are listed
const MOST_PROGRESS: i32 = 2048; // bytes of what each says of itself
const WORKER_AGE: Duration = Duration::from_secs(60 * 60); // a worker is forgotten so long after its last word
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120); // in which the server knows a repeated file by itself
const ACK_WAIT: Duration = Duration::from_secs(30); // then a file that is not acknowledged comes again
const LIST_BATCH: u64 = 200; // messages of one request

const TRANSFER: Duration = Duration::from_secs(60); // at most, of an object in either direction
const MOST_OBJECT: usize = 1 << 30; // bytes
const CHUNK: usize = 1 << 19; // bytes of a message of an object

/// The time after which agents and networks are deleted. Every arena and every learner writes its own again.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The request for the state of a stream, in accounts without JetStream.
pub(super) const INFO: &str = "jarmo.info";

/// The key that published a message, from its subject. This is reliable, because the account of a key imports only the
/// subjects with that key.
pub(super) fn sender(message: &Message) -> &str {
    message.subject.rsplit('.').next().unwrap_or_default()
}

/// The key with the settings of a run.
pub(super) fn settings_of(run: &str) -> String {
    format!("{run}.settings")
}

/// The key with the learner of a run, by the number that copies of its folder share.
pub(super) fn lease_of(id: &str) -> String {
    format!("{id}.learner")
}

/// The key that names the newest network of a run.
pub(super) fn network_of(run: &str) -> String {
    format!("{run}.network")
}

/// The subject of a user's files of games. A part may be `*`, here and below.
pub(super) fn samples_subject(run: &str, user: &str) -> String {
    format!("jarmo.samples.{run}.{user}")
}

/// The subject of the progress of a user's worker.
pub(super) fn progress_subject(user: &str, worker: &str) -> String {
    format!("jarmo.progress.{user}.{worker}")
}

/// The subject of the signs of life of a learner or an arena.
pub(super) fn life_subject(kind: &str, name: &str) -> String {
    format!("jarmo.life.{kind}.{name}")
}

/// The subject on which a user asks arenas for a block of pairs.
pub(super) fn blocks_subject(user: &str) -> String {
    format!("jarmo.blocks.{user}")
}

/// The subject on which an arena takes the games of a user.
pub(super) fn results_subject(tournament: &str, user: &str) -> String {
    format!("jarmo.results.{tournament}.{user}")
}

/// The streams and buckets of a learner.
pub(super) struct LearnerPlaces {
    pub(super) samples: Stream<()>,
    pub(super) files: PullConsumer,
    pub(super) runs: Store,
    pub(super) networks: ObjectStore,
}

impl LearnerPlaces {
    /// Opens the streams and buckets of a run, and creates missing ones. At most `queue` files wait, at most half of
    /// them from one key, unless more wait already. Consumers of earlier learners are deleted, and the files that they have not acknowledged are
    /// delivered again.
    pub(super) async fn open(
        context: &Context,
        run: &str,
        queue: u64,
        holder: u64,
    ) -> Result<LearnerPlaces, async_nats::Error> {
        let queue = queue.min(i64::MAX as u64) as i64;
        let name = format!("{SAMPLES}{run}");
        // With a limit below what a stream holds, the server would delete the oldest files.
        let held = match context.get_stream(&name).await {
            Ok(stream) => stream.cached_info().state.messages as i64,
            Err(_) => 0, // there is none
        };
        let samples = stream::Config {
            name: name.clone(),
            subjects: vec![samples_subject(run, "*")],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            max_messages: queue.max(held),
            max_messages_per_subject: ((queue + 1) / 2).max(held),
            max_message_size: (MOST_BYTES + 4096) as i32, // with headers
            duplicate_window: DUPLICATE_WINDOW,
            ..stream::Config::default()
        };
        context.create_or_update_stream(samples).await?;
        let samples = context.get_stream_no_info(name).await?;
        let learner = format!("{LEARNER}{holder:016x}");
        for earlier in samples.consumer_names().try_collect::<Vec<_>>().await? {
            if earlier == learner {
                continue;
            }
            // A server whose disk was full keeps files that were acknowledged, and they would take up space forever.
            let consumer: PullConsumer = samples.get_consumer(&earlier).await?;
            let acknowledged = consumer.cached_info().ack_floor.stream_sequence;
            if acknowledged > 0 {
                samples.purge().sequence(acknowledged + 1).await?; // with sequence 1 the server would purge everything
            }
            samples.delete_consumer(&earlier).await?;
        }
        let consumer = pull::Config {
            durable_name: Some(learner.clone()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: -1, // a queue is smaller
            ..pull::Config::default()
        };
        let files = samples.get_or_create_consumer(&learner, consumer).await?;
        make_reports(context).await?;
        Ok(LearnerPlaces { files, runs: runs(context).await?, networks: objects(context, NETWORKS).await?, samples })
    }
}

/// The store of agents, which arenas write.
pub(super) async fn arena_places(context: &Context) -> Result<ObjectStore, async_nats::Error> {
    make_reports(context).await?; // with and without a learner
    objects(context, AGENTS).await
}

/// The remedy for a key without access.
const OTHER_KEY: &str = "learners and arenas need learner.key, `fleet status` status.key, workers a key of their own";

/// Waits for streams and buckets. If the server does not have them, the error says what is needed.
pub(super) fn find<T>(
    link: &Link,
    places: impl Future<Output = Result<T, async_nats::Error>>,
) -> Result<T, FleetError> {
    link.wait(async { places.await.map_err(|error| format!("{error}; the server needs JetStream, and {OTHER_KEY}")) })
}

/// A message of a stream.
pub(super) struct Listed {
    pub(super) of: String, // the part of its subject before the last: a run, a key, or what stands in its place
    pub(super) name: String, // the last part
    pub(super) content: Vec<u8>,
    pub(super) age: f64, // seconds, by the server's clock
}

/// A stream's state and limits, and the server's time.
#[derive(Deserialize)]
pub(super) struct Looked {
    #[serde(flatten)]
    pub(super) info: stream::Info,
    ts: String,
}

/// The state of a stream; `None` if there is none of this name.
pub(super) fn look_at(link: &Link, stream: &str) -> Result<Option<Looked>, FleetError> {
    let answer = match link.ask(&format!("{INFO}.{stream}"), Vec::new()) {
        Err(FleetError::Missing(_)) => link.ask(&format!("$JS.API.STREAM.INFO.{stream}"), Vec::new()),
        answer => answer,
    }?;
    match serde_json::from_slice(&answer).map_err(FleetError::new)? {
        Response::Ok(looked) => Ok(Some(looked)),
        Response::Err { error } if error.error_code() == ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => {
            Err(FleetError::new(format!("the server does not let this key do that: {OTHER_KEY}")))
        }
        Response::Err { .. } => Ok(None),
    }
}

/// The value of a key in the bucket of runs. Unlike a [`Store`], this needs no permission to inspect the bucket.
pub(super) fn read_value(link: &Link, key: &str) -> Result<Option<Vec<u8>>, FleetError> {
    let read = async {
        let stream = link.context.get_stream_no_info(format!("KV_{RUNS}")).await?;
        match stream.direct_get_last_for_subject(format!("$KV.{RUNS}.{key}")).await {
            Ok(message) => Ok(Some(message.payload.to_vec())),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(async_nats::Error::from(error)),
        }
    };
    link.wait(read)
}

/// The messages of a stream that keeps one per subject. This needs no consumer and writes nothing.
pub(super) fn list(link: &Link, stream: &str) -> Result<Vec<Listed>, FleetError> {
    let mut list = Vec::new();
    let Some(Looked { info, ts }) = look_at(link, stream)? else {
        return Ok(list);
    };
    let now = parse_rfc3339(&ts).map_err(FleetError::new)?;
    let subject = format!("$JS.API.DIRECT.GET.{stream}");
    let mut next = 1;
    while next <= info.state.last_sequence {
        let asked = format!(r#"{{"seq":{next},"batch":{LIST_BATCH},"next_by_subj":">"}}"#);
        let messages = link.ask_for_many(&subject, asked)?;
        let Some(last) = messages.last() else {
            break;
        };
        next = last.sequence + 1;
        list.extend(messages.into_iter().map(|message| {
            let mut parts = message.subject.rsplit('.').map(str::to_owned);
            Listed {
                name: parts.next().unwrap_or_default(),
                of: parts.next().unwrap_or_default(),
                content: message.payload.to_vec(),
                age: (now - message.time).as_seconds_f64().max(0.0),
            }
        }));
    }
    Ok(list)
}

/// The streams of progress and of signs of life are in memory and drop the oldest messages, so that a worker cannot use
/// up other storage. They are two, so that no number of workers hides a learner, and they are no buckets, so that a
/// header cannot erase their subjects.
async fn make_reports(context: &Context) -> Result<(), async_nats::Error> {
    for (name, subject) in [(PROGRESS, progress_subject("*", "*")), (LIVES, life_subject("*", "*"))] {
        let config = stream::Config {
            name: name.to_owned(),
            subjects: vec![subject],
            max_messages: MOST_WORKERS,
            max_messages_per_subject: 1,
            max_message_size: MOST_PROGRESS,
            max_age: WORKER_AGE,
            allow_direct: true,
            storage: StorageType::Memory,
            ..stream::Config::default()
        };
        context.create_or_update_stream(config).await?;
    }
    Ok(())
}

/// The bucket of all runs.
pub(super) async fn runs(context: &Context) -> Result<Store, async_nats::Error> {
    let config = kv::Config { bucket: RUNS.to_owned(), history: 1, ..kv::Config::default() };
    Ok(context.create_or_update_key_value(config).await?)
}

async fn objects(context: &Context, name: &str) -> Result<ObjectStore, async_nats::Error> {
    if let Ok(store) = context.get_object_store(name).await {
        return Ok(store);
    }
    let config = object_store::Config { bucket: name.to_owned(), max_age: KEPT, ..object_store::Config::default() };
    Ok(context.create_object_store(config).await?)
}

/// The newest network of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Newest {
    pub(super) step: u64, // training steps
    pub(super) parcel: ObjectInfo,
}

/// The newest network of a run, if there is one.
pub(super) fn newest(link: &Link, run: &str) -> Result<Option<Newest>, FleetError> {
    let newest = read_value(link, &network_of(run))?;
    newest.map(|bytes| serde_json::from_slice(&bytes)).transpose().map_err(FleetError::new)
}

/// Writes an object, compressed.
pub(super) fn write_object(
    link: &Link,
    store: &ObjectStore,
    name: &str,
    bytes: &[u8],
) -> Result<ObjectInfo, FleetError> {
    let bytes = compress(&planes(bytes));
    let about = ObjectMetadata { name: name.to_owned(), chunk_size: Some(CHUNK), ..ObjectMetadata::default() };
    link.within(TRANSFER, store.put(about, &mut bytes.as_slice()))?.map_err(FleetError::new)
}

/// Reads an object that [`write_object`] wrote, message by message. The reader of the client library would create a
/// consumer, which only the learner's account may do.
pub(super) fn read_object(link: &Link, object: &ObjectInfo) -> Result<Vec<u8>, FleetError> {
    let ObjectInfo { bucket, nuid, chunks, .. } = object;
    let read = async {
        let stream = link.context.get_stream_no_info(format!("OBJ_{bucket}")).await?;
        let subject = format!("$O.{bucket}.C.{nuid}");
        let (mut bytes, mut next) = (Vec::new(), 1);
        for _ in 0..*chunks {
            let chunk = stream.direct_get_next_for_subject(&subject, Some(next)).await?;
            bytes.extend_from_slice(&chunk.payload);
            next = chunk.sequence + 1;
        }
        Ok::<_, async_nats::Error>(bytes)
    };
    let bytes = link.within(TRANSFER, read)?.map_err(FleetError::new)?;
    Ok(bytes_of(&decompress(&bytes, MOST_OBJECT)?))
}
