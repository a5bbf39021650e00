//! Networks on their way to the workers: the learner's side and the workers' side.

use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::{ObjectInfo, ObjectMetadata, ObjectStore};
use serde::{Deserialize, Serialize};

use super::game_file::{bytes_of, compress, decompress, planes};
use super::places::network_of;
use super::{FleetError, Link};

const TRANSFER: Duration = Duration::from_secs(60); // at most, in either direction
const MOST_NETWORK: usize = 1 << 30; // bytes
const CHUNK: usize = 1 << 19; // bytes of a message of a network

/// The newest network of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Newest {
    pub(super) step: u64, // learning steps
    pub(super) parcel: ObjectInfo,
}

/// The newest network of a run, if there is one.
pub(super) fn newest(link: &Link, bucket: &Store, run: &str) -> Result<Option<Newest>, FleetError> {
    let newest = link.wait(bucket.get(network_of(run)))?;
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

/// Reads what [`write_object`] wrote. It asks for message after message, because a user who may create consumers, as the
/// client's own reader does, could let the server send messages to others.
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
    Ok(bytes_of(&decompress(&bytes, MOST_NETWORK)?))
}
