//! Networks on their way to the workers: the learner's side and the workers' side.

use std::io::Cursor;
use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::{ObjectMetadata, ObjectStore};
use futures_util::StreamExt;

use super::places::{NETWORKS, network_of};
use super::settings::Newest;
use super::{FleetError, Link};
use jarmo_core::net::AgentFile;

/// The longest time that a network may take, in either direction.
const TRANSFER: Duration = Duration::from_secs(60);

/// How many networks stay at the server, for workers that are reading one.
const KEPT: usize = 3;

/// The most bytes of a network.
const MOST_NETWORK: usize = 1 << 30;

/// The bytes of a message of a network.
const CHUNK: usize = 1 << 19;

/// Writes networks.
pub(super) struct Publisher {
    run: String,
    networks: ObjectStore,
    bucket: Store,
    names: Option<Vec<String>>, // at the server, oldest first; `None` before the first look
}

impl Publisher {
    pub(super) fn new(run: String, networks: ObjectStore, bucket: Store) -> Publisher {
        Publisher {
            run,
            networks,
            bucket,
            names: None,
        }
    }

    /// Writes a network, then says that it is the newest, then deletes an old one.
    pub(super) fn publish(&mut self, link: &Link, agent: &AgentFile) -> Result<(), FleetError> {
        let step = agent.header().provenance.step;
        let name = format!("{}-{step:08}", self.run);
        write_object(link, &self.networks, &name, &agent.to_bytes())?;
        let newest = Newest {
            step,
            object: name.clone(),
        };
        let newest = serde_json::to_vec(&newest).expect("names are plain data");
        link.wait(self.bucket.put(network_of(&self.run), newest.into()))?;
        let mut names = match self.names.take() {
            Some(names) => names,
            None => link.wait(self.left_behind())?,
        };
        names.retain(|known| *known != name);
        names.push(name);
        let surplus = names.len().saturating_sub(KEPT);
        let names = self.names.insert(names);
        for _ in 0..surplus {
            link.wait_for(TRANSFER, self.networks.delete(&names[0]))?;
            names.remove(0);
        }
        Ok(())
    }

    /// The networks that an earlier learner of the run left at the server.
    async fn left_behind(&self) -> Result<Vec<String>, String> {
        let mut objects = self
            .networks
            .list()
            .await
            .map_err(|error| error.to_string())?;
        let mut names = Vec::new();
        while let Some(object) = objects.next().await {
            names.push(object.map_err(|error| error.to_string())?.name);
        }
        names.retain(|name| name.starts_with(&self.run));
        Ok(names)
    }
}

/// The newest network of a run, if there is one.
pub(super) fn newest(link: &Link, bucket: &Store, run: &str) -> Result<Option<Newest>, FleetError> {
    let newest = link.wait(bucket.get(network_of(run)))?;
    let newest = newest.map(|bytes| serde_json::from_slice(&bytes));
    newest.transpose().map_err(FleetError::new)
}

/// Reads the newest network of a run. `None` if there is none yet, or if it is the one of this step.
pub(super) fn newer(
    link: &Link,
    bucket: &Store,
    run: &str,
    known: Option<u64>,
) -> Result<Option<AgentFile>, FleetError> {
    let newest = newest(link, bucket, run)?.filter(|newest| known != Some(newest.step));
    let Some(newest) = newest else {
        return Ok(None);
    };
    let bytes = read_object(link, NETWORKS, &newest.object)?;
    let agent = AgentFile::from_bytes(&bytes).map_err(FleetError::new)?;
    Ok(Some(agent))
}

/// Writes an object, compressed.
pub(super) fn write_object(
    link: &Link,
    store: &ObjectStore,
    name: &str,
    bytes: &[u8],
) -> Result<(), FleetError> {
    let bytes = zstd::bulk::compress(bytes, 1).expect("memory can be compressed");
    let mut bytes = Cursor::new(bytes);
    let about = ObjectMetadata {
        name: name.to_owned(),
        chunk_size: Some(CHUNK),
        ..ObjectMetadata::default()
    };
    link.wait_for(TRANSFER, store.put(about, &mut bytes))?;
    Ok(())
}

/// Reads what [`write_object`] wrote. It asks for message after message, because a user who may create consumers, as the
/// client's own reader does, could let the server send messages to others.
pub(super) fn read_object(link: &Link, bucket: &str, name: &str) -> Result<Vec<u8>, FleetError> {
    let context = link.context();
    let read = async {
        let wrong = |error: &dyn std::fmt::Display| error.to_string();
        let store = context.get_object_store(bucket).await;
        let about = store.map_err(|error| wrong(&error))?.info(name).await;
        let about = about.map_err(|error| wrong(&error))?;
        let stream = context.get_stream(format!("OBJ_{bucket}")).await;
        let stream = stream.map_err(|error| wrong(&error))?;
        let subject = format!("$O.{bucket}.C.{}", about.nuid);
        let (mut bytes, mut next) = (Vec::new(), 1);
        for _ in 0..about.chunks {
            let chunk = stream.direct_get_next_for_subject(&subject, Some(next));
            let chunk = chunk.await.map_err(|error| wrong(&error))?;
            bytes.extend_from_slice(&chunk.payload);
            next = chunk.sequence + 1;
        }
        Ok::<_, String>(bytes)
    };
    let bytes = link.wait_for(TRANSFER, read)?;
    zstd::bulk::decompress(&bytes, MOST_NETWORK).map_err(FleetError::new)
}
