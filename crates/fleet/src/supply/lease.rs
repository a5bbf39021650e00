//! The lease that gives a run a single learner. Without it, workers would switch to a copy of its folder that starts
//! later.

use std::fs;
use std::path::Path;

use async_nats::jetstream::kv::Store;
use serde::{Deserialize, Serialize};

use super::LEAVES_AFTER;
use crate::places::{LIVES, Listed, lease_of, list, read_value};
use crate::status::LEARNER;
use crate::{FleetError, Link, host_name, json, unique};
use jarmo_host::files::{SETTINGS_BYTES, read_text, write_whole};

const ID: &str = "fleet.id";

/// The entry of a run's learner in the bucket of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    /// A random number of this learner. It is part of the name of the learner's consumer, so the server accepts no
    /// acknowledgements from a learner that has lost the run.
    pub(super) holder: u64,
    run: String,   // the identity of the run in its folder
    place: String, // of the run's folder; a copy has another one
    folder: String,
    #[serde(skip)]
    pub(super) key: String, // in the bucket
}

impl Lease {
    /// Takes the run for this learner. Fails if another learner has it and gives signs of life. A learner in the same
    /// folder cannot be alive, because the folder is locked.
    pub(super) fn take(link: &Link, runs: &Store, run: &str, folder: &Path) -> Result<Lease, FleetError> {
        let host = host_name();
        let place = place(folder).map_err(FleetError::at(folder))?;
        let key = lease_of(&run_id(folder)?);
        let folder = format!("{} on {host}", folder.display());
        let place = format!("{host} {place}");
        let ours = Lease { holder: unique(), run: run.to_owned(), place, folder, key };
        let last = link.wait(runs.entry(&ours.key))?;
        if let Some(entry) = &last
            && let Some((folder, age)) = ours.rival(&entry.value, &list(link, LIVES)?)
        {
            return Err(FleetError::new(format!(
                "this run has a learner already, with the folder {folder} (heard {age:.0} s ago). A copy of a run's \
                 folder is the same run: stop that learner first, or begin a new run. If it was killed, try again in \
                 {LEAVES_AFTER:.0} s"
            )));
        }
        let revision = last.map_or(0, |entry| entry.revision);
        link.wait(runs.update(&ours.key, json(&ours).into(), revision))?;
        Ok(ours)
    }

    /// The folder of a learner in another place that has the run by this entry and lives, and how long ago it was heard.
    fn rival(&self, entry: &[u8], lives: &[Listed]) -> Option<(String, f64)> {
        let theirs = serde_json::from_slice::<Lease>(entry).ok().filter(|theirs| theirs.place != self.place)?;
        let life = lives.iter().find(|life| life.of == LEARNER && life.name == theirs.run)?;
        (life.age < LEAVES_AFTER).then_some((theirs.folder, life.age))
    }

    /// Whether an entry says that the run has this learner. `None` if it cannot be read, or is of an earlier learner in
    /// this folder, which the folder's lock shows to be gone: the server came back with an old disk.
    fn is_in(&self, entry: &[u8]) -> Option<bool> {
        let theirs: Lease = serde_json::from_slice(entry).ok()?;
        let is_ours = theirs.holder == self.holder;
        (is_ours || theirs.place != self.place).then_some(is_ours)
    }

    /// Whether the run still has this learner. If the server has lost the lease, has an old one of this folder, or one
    /// that cannot be read, it gets it again.
    pub(super) fn holds(&self, link: &Link, runs: &Store) -> Result<bool, FleetError> {
        let value = read_value(link, &self.key)?.unwrap_or_default();
        match self.is_in(&value) {
            Some(is_ours) => Ok(is_ours),
            None => link.wait(runs.put(&self.key, json(self).into())).map(|_| true),
        }
    }
}

/// The identity of the run in a folder: a random number, which copies of the folder share. A run gets it when it is
/// first used with a fleet.
pub fn run_id(folder: &Path) -> Result<String, FleetError> {
    let path = folder.join(ID);
    if !path.exists() {
        write_whole(&path, format!("{:016x}", unique()).as_bytes()).map_err(FleetError::at(&path))?;
    }
    let id = read_text(&path, SETTINGS_BYTES).map_err(FleetError::at(&path))?;
    match id.trim().chars().all(|digit| digit.is_ascii_hexdigit()) && !id.trim().is_empty() {
        true => Ok(id.trim().to_owned()),
        false => Err(FleetError::new(format!("{}: not a hexadecimal number; delete this file", path.display()))),
    }
}

/// What tells a folder from its copies.
#[cfg(unix)]
fn place(folder: &Path) -> std::io::Result<String> {
    use std::os::unix::fs::MetadataExt;
    let about = fs::metadata(folder)?;
    Ok(format!("{} {}", about.dev(), about.ino()))
}

/// What tells a folder from its copies.
#[cfg(not(unix))]
fn place(folder: &Path) -> std::io::Result<String> {
    Ok(fs::canonicalize(folder)?.display().to_string())
}

#[cfg(test)]
mod tests;
