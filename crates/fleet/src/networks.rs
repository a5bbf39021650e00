//! Networks on their way to the workers: the learner's side and the workers' side.

use std::io::Cursor;
use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::ObjectStore;
use futures_util::StreamExt;
use tokio::io::AsyncReadExt;

use super::card::Newest;
use super::places::NETWORK;
use super::{FleetError, Link};
use jarmo_core::net::AgentFile;

/// The longest time that a network may take, in either direction.
const TRANSFER: Duration = Duration::from_secs(60);

/// How many networks stay at the server, for workers that are reading one.
const KEPT: usize = 3;

/// The most bytes of a network.
const MOST_NETWORK: u64 = 1 << 30;

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
            run: self.run.clone(),
            step,
            object: name.clone(),
        };
        let newest = serde_json::to_vec(&newest).expect("names are plain data");
        link.wait(self.bucket.put(NETWORK, newest.into()))?;
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

    /// The networks that an earlier learner left at the server.
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
        Ok(names)
    }
}

/// Reads the newest network of a run. `None` if there is none yet, or if it is the one of this step.
pub(super) fn newer(
    link: &Link,
    bucket: &Store,
    networks: &ObjectStore,
    run: &str,
    known: Option<u64>,
) -> Result<Option<AgentFile>, FleetError> {
    let Some(newest) = link.wait(bucket.get(NETWORK))? else {
        return Ok(None);
    };
    let newest: Newest = serde_json::from_slice(&newest).map_err(FleetError::new)?;
    if newest.run != run || known == Some(newest.step) {
        return Ok(None);
    }
    let bytes = read_object(link, networks, &newest.object)?;
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
    link.wait_for(TRANSFER, store.put(name, &mut bytes))?;
    Ok(())
}

/// Reads what [`write_object`] wrote.
pub(super) fn read_object(
    link: &Link,
    store: &ObjectStore,
    name: &str,
) -> Result<Vec<u8>, FleetError> {
    let read = async {
        let object = store.get(name).await;
        let object = object.map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        let read = object.take(MOST_NETWORK).read_to_end(&mut bytes).await;
        read.map_err(|error| error.to_string())?;
        Ok::<_, String>(bytes)
    };
    let bytes = link.wait_for(TRANSFER, read)?;
    zstd::bulk::decompress(&bytes, MOST_NETWORK as usize).map_err(FleetError::new)
}
