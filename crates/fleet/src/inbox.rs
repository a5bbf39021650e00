//! Files of games that are safe on the learner's disk and in no checkpoint yet; and files in quarantine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::FleetError;
use super::game_file::{GameFile, MOST_BYTES};
use jarmo_host::files::{list, read, remove_leftovers, write_whole};
use jarmo_learn::run::{FileId, Seen};

const INBOX: &str = "inbox";
const QUARANTINE: &str = "quarantine";
const ENDING: &str = "games";

/// The most files that quarantine keeps. Later ones are counted and named, and not kept.
const MOST_QUARANTINED: usize = 1000;

/// The two folders, inside the folder of the run.
pub(super) struct Inbox {
    inbox: PathBuf,
    quarantine: PathBuf,
}

/// A file in the inbox.
pub(super) struct Kept {
    pub(super) sequence: u64,
    pub(super) id: FileId,
    pub(super) bytes: Vec<u8>,
}

impl Inbox {
    /// Opens the folders, and makes them if necessary.
    pub(super) fn open(run: &Path) -> Result<Inbox, FleetError> {
        let inbox = run.join(INBOX);
        let quarantine = run.join(QUARANTINE);
        for folder in [&inbox, &quarantine] {
            let made = fs::create_dir_all(folder).and_then(|()| remove_leftovers(folder));
            made.map_err(|error| FleetError::new(format!("{}: {error}", folder.display())))?;
        }
        Ok(Inbox { inbox, quarantine })
    }

    /// Writes and syncs a file.
    pub(super) fn keep(&self, sequence: u64, id: FileId, bytes: &[u8]) -> Result<(), FleetError> {
        let path = self.path(sequence, id);
        write_whole(&path, bytes)
            .map_err(|error| FleetError::new(format!("{}: {error}", path.display())))
    }

    /// The files in the order of arrival at the server. Those of a checkpoint are deleted.
    pub(super) fn load(&self, seen: &Seen) -> Result<Vec<Kept>, FleetError> {
        let wrong = |path: &Path| {
            let path = path.display().to_string();
            move |error: io::Error| FleetError::new(format!("{path}: {error}"))
        };
        let mut kept = Vec::new();
        for (path, sequence, id) in self.files()? {
            if seen.contains(id) {
                fs::remove_file(&path).map_err(wrong(&path))?;
                continue;
            }
            let bytes = read(&path, MOST_BYTES as u64).map_err(wrong(&path))?;
            if GameFile::id(&bytes) == id {
                kept.push(Kept {
                    sequence,
                    id,
                    bytes,
                });
            } else {
                // It was whole when it was acknowledged, so the disk has lost it.
                fs::remove_file(&path).map_err(wrong(&path))?;
            }
        }
        kept.sort_by_key(|file| file.sequence);
        Ok(kept)
    }

    /// Deletes the files of a checkpoint.
    pub(super) fn forget(&self, seen: &Seen) -> Result<(), FleetError> {
        for (path, _, id) in self.files()? {
            if seen.contains(id) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Deletes one file, if it is there.
    pub(super) fn remove(&self, sequence: u64, id: FileId) -> Result<(), FleetError> {
        remove(&self.path(sequence, id))
    }

    /// Puts a bad file away. Returns its path, unless there are too many already.
    pub(super) fn quarantine(&self, id: FileId, bytes: &[u8]) -> io::Result<Option<PathBuf>> {
        let path = self.quarantine.join(format!("{id}.{ENDING}"));
        if list(&self.quarantine)?.len() >= MOST_QUARANTINED {
            return Ok(None);
        }
        write_whole(&path, bytes)?;
        Ok(Some(path))
    }

    fn path(&self, sequence: u64, id: FileId) -> PathBuf {
        self.inbox.join(format!("{sequence:012}-{id}.{ENDING}"))
    }

    fn files(&self) -> Result<Vec<(PathBuf, u64, FileId)>, FleetError> {
        let listed = list(&self.inbox);
        let listed = listed
            .map_err(|error| FleetError::new(format!("{}: {error}", self.inbox.display())))?;
        let files = listed.into_iter().filter_map(|path| {
            let name = path.file_stem()?.to_str()?;
            let (sequence, id) = name.split_once('-')?;
            let (sequence, id) = (sequence.parse().ok()?, id.parse().ok()?);
            Some((path.clone(), sequence, id))
        });
        Ok(files.collect())
    }
}

fn remove(path: &Path) -> Result<(), FleetError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FleetError::new(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}
