//! Files of games that are safe on the learner's disk and in no checkpoint yet; and files in quarantine.

use std::fs::{self, File};
use std::io::{self, Write};
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

/// The name of a file in the inbox, in the order of arrival at the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeptName {
    pub(super) sequence: u64,
    pub(super) id: FileId,
    /// The key that sent it.
    pub(super) key: String,
}

impl Inbox {
    /// Opens the folders, and makes them if necessary.
    pub(super) fn open(run: &Path) -> Result<Inbox, FleetError> {
        let inbox = run.join(INBOX);
        let quarantine = run.join(QUARANTINE);
        for folder in [&inbox, &quarantine] {
            let made = fs::create_dir_all(folder).and_then(|()| remove_leftovers(folder));
            made.map_err(|error| at(folder, &error))?;
        }
        Ok(Inbox { inbox, quarantine })
    }

    /// Writes and syncs a file. It has its name for good after [`Inbox::sync`].
    pub(super) fn keep(&self, name: &KeptName, bytes: &[u8]) -> Result<(), FleetError> {
        let path = self.path(name);
        let temporary = path.with_added_extension(format!("{}.tmp", std::process::id()));
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        let kept = written.and_then(|()| fs::rename(&temporary, &path));
        kept.map_err(|error| at(&path, &error))
    }

    /// Syncs the names of all files.
    pub(super) fn sync(&self) -> Result<(), FleetError> {
        #[cfg(unix)]
        {
            let synced = File::open(&self.inbox).and_then(|folder| folder.sync_all());
            synced.map_err(|error| at(&self.inbox, &error))?;
        }
        Ok(())
    }

    /// The files in the order of arrival at the server, with their content.
    pub(super) fn load(&self) -> Result<Vec<(KeptName, Vec<u8>)>, FleetError> {
        let mut kept = Vec::new();
        for name in self.names()? {
            let path = self.path(&name);
            let bytes = read(&path, MOST_BYTES as u64).map_err(|error| at(&path, &error))?;
            match GameFile::id(&bytes) == name.id {
                true => kept.push((name, bytes)),
                // It was whole when it was acknowledged, so the disk has lost it.
                false => self.remove(&name)?,
            }
        }
        Ok(kept)
    }

    /// Deletes the files that a checkpoint contains.
    pub(super) fn forget(&self, seen: &Seen) -> Result<(), FleetError> {
        let names = self.names()?.into_iter();
        names
            .filter(|name| seen.contains(name.id))
            .try_for_each(|name| self.remove(&name))
    }

    /// Deletes one file, if it is there.
    pub(super) fn remove(&self, name: &KeptName) -> Result<(), FleetError> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&path, &error)),
            _ => Ok(()),
        }
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

    fn path(&self, name: &KeptName) -> PathBuf {
        let KeptName { sequence, id, key } = name;
        self.inbox
            .join(format!("{sequence:012}-{id}-{key}.{ENDING}"))
    }

    fn names(&self) -> Result<Vec<KeptName>, FleetError> {
        let listed = list(&self.inbox).map_err(|error| at(&self.inbox, &error))?;
        let names = listed.iter().filter_map(|path| {
            let mut parts = path.file_stem()?.to_str()?.splitn(3, '-');
            Some(KeptName {
                sequence: parts.next()?.parse().ok()?,
                id: parts.next()?.parse().ok()?,
                key: parts.next()?.to_owned(),
            })
        });
        let mut names: Vec<KeptName> = names.collect();
        names.sort();
        Ok(names)
    }
}

fn at(path: &Path, error: &io::Error) -> FleetError {
    FleetError::new(format!("{}: {error}", path.display()))
}
