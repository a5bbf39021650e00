//! Networks on their way to the workers: the learner's side and the workers' side.

use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::{ObjectInfo, ObjectMetadata, ObjectStore};
use serde::{Deserialize, Serialize};

use super::game_file::{bytes_of, compress, decompress, planes};
use super::places::{LearnerPlaces, network_of};
use super::{FleetError, Link};
use jarmo_core::net::AgentFile;

/// The longest time that a network may take, in either direction.
const TRANSFER: Duration = Duration::from_secs(60);

/// How many networks stay at the server, for workers that are reading one.
pub(super) const KEPT: usize = 3;

/// The most bytes of a network.
const MOST_NETWORK: usize = 1 << 30;

/// The bytes of a message of a network.
const CHUNK: usize = 1 << 19;

/// Passed to [`AgentFile::rounded`] before a network is written, so that all workers play with the same weights.
const WEIGHT_STEPS: u16 = 64;

/// The newest network of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Newest {
    /// Its learning steps.
    pub(super) step: u64,
    /// Where it is.
    pub(super) parcel: ObjectInfo,
}

/// Writes a network in place of an old one of this name, then says that it is the newest. Returns its bytes on the wire.
pub(super) fn publish(
    link: &Link,
    places: &LearnerPlaces,
    run: &str,
    name: &str,
    agent: AgentFile,
) -> Result<usize, FleetError> {
    let step = agent.header().provenance.step;
    let bytes = agent.rounded(WEIGHT_STEPS).to_bytes();
    let parcel = write_object(link, &places.networks, name, &bytes)?;
    let size = parcel.size;
    let newest = serde_json::to_vec(&Newest { step, parcel }).expect("names are plain data");
    link.wait(places.runs.put(network_of(run), newest.into()))?;
    Ok(size)
}

/// The newest network of a run, if there is one.
pub(super) fn newest(link: &Link, bucket: &Store, run: &str) -> Result<Option<Newest>, FleetError> {
    let newest = link.wait(bucket.get(network_of(run)))?;
    let newest = newest.map(|bytes| serde_json::from_slice(&bytes));
    newest.transpose().map_err(FleetError::new)
}

/// Reads a network.
pub(super) fn read_network(link: &Link, newest: &Newest) -> Result<AgentFile, FleetError> {
    let bytes = read_object(link, &newest.parcel)?;
    AgentFile::from_bytes(&bytes).map_err(FleetError::new)
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
    link.wait_for(TRANSFER, store.put(about, &mut bytes.as_slice()))
}

/// Reads what [`write_object`] wrote. It asks for message after message, because a user who may create consumers, as the
/// client's own reader does, could let the server send messages to others.
pub(super) fn read_object(link: &Link, object: &ObjectInfo) -> Result<Vec<u8>, FleetError> {
    let ObjectInfo { bucket, nuid, chunks, .. } = object;
    let read = async {
        let stream = format!("OBJ_{bucket}");
        let stream = link.context.get_stream_no_info(stream).await?;
        let subject = format!("$O.{bucket}.C.{nuid}");
        let (mut bytes, mut next) = (Vec::new(), 1);
        for _ in 0..*chunks {
            let chunk = stream.direct_get_next_for_subject(&subject, Some(next));
            let chunk = chunk.await?;
            bytes.extend_from_slice(&chunk.payload);
            next = chunk.sequence + 1;
        }
        Ok::<_, async_nats::Error>(bytes)
    };
    let bytes = link.wait_for(TRANSFER, read)?;
    Ok(bytes_of(&decompress(&bytes, MOST_NETWORK)?))
}
