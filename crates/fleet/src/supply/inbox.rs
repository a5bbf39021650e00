//! Files of games that are safe on the learner's disk and in no checkpoint yet; and files in quarantine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::{FleetError, GameFile, MOST_BYTES, json, lock};
use jarmo_host::files::{list, read, remove_leftovers, write_whole};
use jarmo_learn::run::FileId;

const INBOX: &str = "inbox";
const QUARANTINE: &str = "quarantine";
const ENDING: &str = "games";

const MOST_QUARANTINED: usize = 1000; // files; later ones are counted and named, and not kept
pub(super) const MOST_BATCH: usize = 64; // files that are taken in together

/// The most bytes of a batch in the inbox: its files, and a line that says what they are.
const MOST_BATCH_BYTES: u64 = (MOST_BATCH * MOST_BYTES) as u64 + (1 << 16);

/// The two folders, inside the folder of the run. The files that arrive together are one file in the inbox, so that they
/// are synced together. Its first line says what they are.
pub(super) struct Inbox {
    inbox: PathBuf,
    quarantine: PathBuf,
    batches: Mutex<BTreeMap<PathBuf, BTreeSet<FileId>>>, // with the files that the next learner wants if this one is killed
}

/// A file in the inbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeptName {
    pub(super) sequence: u64, // its number in the order of arrival at the server
    pub(super) id: FileId,
    pub(super) key: String, // that sent it
}

impl Inbox {
    /// Opens the folders, and makes them if necessary.
    pub(super) fn open(run: &Path) -> Result<Inbox, FleetError> {
        let inbox = run.join(INBOX);
        let quarantine = run.join(QUARANTINE);
        for folder in [&inbox, &quarantine] {
            let made = fs::create_dir_all(folder).and_then(|()| remove_leftovers(folder));
            made.map_err(FleetError::at(folder))?;
        }
        Ok(Inbox { inbox, quarantine, batches: Mutex::default() })
    }

    /// Writes and syncs the files of a batch.
    pub(super) fn keep(&self, files: &[(&KeptName, &[u8])]) -> Result<(), FleetError> {
        let Some((KeptName { sequence, id, .. }, _)) = files.first() else {
            return Ok(());
        };
        let path = self.inbox.join(format!("{sequence:012}-{id}.{ENDING}"));
        let held: Vec<_> = files.iter().map(|(name, bytes)| (name, bytes.len())).collect();
        let held = json(&held) + "\n";
        let mut parts = vec![held.as_bytes()];
        parts.extend(files.iter().map(|(_, bytes)| *bytes));
        write_whole(&path, &parts.concat()).map_err(FleetError::at(&path))?;
        let wanted = files.iter().map(|(name, _)| name.id).collect();
        lock(&self.batches).insert(path, wanted);
        Ok(())
    }

    /// The files with their content, in no particular order.
    pub(super) fn load(&self) -> Result<Vec<(KeptName, Vec<u8>)>, FleetError> {
        let mut kept = Vec::new();
        for path in list(&self.inbox).map_err(FleetError::at(&self.inbox))? {
            if path.extension().is_none_or(|ending| ending != ENDING) {
                continue;
            }
            let bytes = read(&path, MOST_BATCH_BYTES).map_err(FleetError::at(&path))?;
            let mut files = files_of(&bytes).unwrap_or_default();
            // They were whole when they were acknowledged, so the disk has lost the others.
            files.retain(|(name, bytes)| GameFile::id(bytes) == name.id);
            let wanted = files.iter().map(|(name, _)| name.id).collect();
            lock(&self.batches).insert(path, wanted);
            kept.extend(files);
        }
        Ok(kept)
    }

    /// Forgets files that are no longer wanted, and deletes the batches of which none is.
    pub(super) fn retain(&self, is_wanted: impl Fn(FileId) -> bool) -> Result<(), FleetError> {
        let mut batches = lock(&self.batches);
        let unwanted = batches.extract_if(.., |_, wanted| {
            wanted.retain(|&id| is_wanted(id));
            wanted.is_empty()
        });
        for (path, _) in unwanted {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(FleetError::at(&path)(error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Puts a bad file away. Returns its path, unless there are too many already.
    pub(super) fn quarantine(&self, id: FileId, bytes: &[u8]) -> Result<Option<PathBuf>, FleetError> {
        let path = self.quarantine.join(format!("{id}.{ENDING}"));
        if list(&self.quarantine).map_err(FleetError::new)?.len() >= MOST_QUARANTINED {
            return Ok(None);
        }
        write_whole(&path, bytes).map_err(FleetError::new)?;
        Ok(Some(path))
    }
}

/// The files of a batch.
fn files_of(batch: &[u8]) -> Option<Vec<(KeptName, Vec<u8>)>> {
    let end = batch.iter().position(|&byte| byte == b'\n')?;
    let held: Vec<(KeptName, usize)> = serde_json::from_slice(&batch[..end]).ok()?;
    let mut rest = &batch[end + 1..];
    let mut files = Vec::new();
    for (name, bytes) in held {
        let (file, behind) = rest.split_at_checked(bytes)?;
        files.push((name, file.to_vec()));
        rest = behind;
    }
    Some(files)
}
