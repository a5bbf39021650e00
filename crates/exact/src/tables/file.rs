//! Table files: one per force, and one for an unfinished layer.
//!
//! A file is a header of 72 bytes, which docs/lab/tables.md lists, and one byte per index of its layer. It gets its name
//! when it is complete; before, it is part of an unfinished layer (see `solve/unfinished.rs`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::map::map;
use crate::ExactError;
use jarmo_host::files::{self, FolderLock, lock_folder, write_whole_by};

/// The version of the format. It is increased when the index, the bytes or the header change, so that older files are
/// rejected.
const FORMAT_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"JARMOTAB";
/// Bytes before the first position.
pub(super) const HEADER: usize = 72;
const CHUNK: usize = 1 << 24;
const FINISHED: u32 = u32::MAX;

/// The rules that tables are valid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    digest: u64,  // of the settings of the rules
    version: u32, // of the rules
    other: [&'static str; 2],
}

impl Owner {
    /// The owner of tables for this version of the rules and these settings, as text. `other` is the message for tables
    /// with other settings: what they were built for, and the remedy.
    pub(super) fn new(version: u32, settings: &str, other: [&'static str; 2]) -> Owner {
        Owner { digest: xxh3_64(settings.as_bytes()), version, other }
    }

    /// Its bytes in a file: the version of the rules, then the digest of their settings.
    pub fn to_bytes(self) -> [u8; 12] {
        let mut out = [0; 12];
        out[..4].copy_from_slice(&self.version.to_le_bytes());
        out[4..].copy_from_slice(&self.digest.to_le_bytes());
        out
    }

    /// Fails for a file that was made for other rules.
    pub(super) fn check(self, version: u32, digest: u64) -> Result<(), ExactError> {
        if version != self.version {
            return Err(ExactError::new(format!(
                "was built for version {version} of the rules, this build has version {}; use another folder",
                self.version
            )));
        }
        if digest != self.digest {
            return Err(ExactError::new(format!(
                "was built for {} (digest {digest:016x}, expected {:016x}){}",
                self.other[0], self.digest, self.other[1]
            )));
        }
        Ok(())
    }
}

/// The table of one force: its folder, and the header that its files must have.
#[derive(Clone, Copy, Debug)]
pub struct TableId<'a> {
    /// The folder of the tables.
    pub folder: &'a Path,
    /// How the names of the game's files begin.
    pub files: &'static str,
    /// The rules.
    pub owner: Owner,
    /// The force of all its positions.
    pub force: u32,
    /// The number of positions.
    pub size: usize,
}

impl TableId<'_> {
    /// The table.
    pub(super) fn finished(&self) -> PathBuf {
        finished_path(self.folder, self.files, self.force)
    }

    /// The packed table.
    pub(super) fn packed(&self) -> PathBuf {
        packed_path(self.folder, self.files, self.force)
    }

    /// The table while it is being solved.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.finished().with_extension("unfinished")
    }

    /// The file that records which updates the pages of an unfinished table include.
    pub(super) fn pages(&self) -> PathBuf {
        self.finished().with_extension("pages")
    }

    /// Writes the table of a force that was solved in memory.
    pub(super) fn write(&self, bytes: &[u8], longest: u32) -> Result<(), ExactError> {
        let path = self.finished();
        let written = write_whole_by(&path, &self.unfinished(), &[&self.header(bytes, longest), bytes]);
        written.map_err(ExactError::io(&path))
    }

    /// The header of the table with these bytes. `longest` is the longest distance.
    pub(super) fn header(&self, bytes: &[u8], longest: u32) -> [u8; HEADER] {
        let mut header = Vec::with_capacity(HEADER);
        header.extend(MAGIC);
        header.extend(FORMAT_VERSION.to_le_bytes());
        header.extend(self.owner.to_bytes());
        header.extend(self.force.to_le_bytes());
        header.extend(FINISHED.to_le_bytes());
        header.extend(longest.to_le_bytes());
        header.extend([0; 4]);
        header.extend((self.size as u64).to_le_bytes());
        header.extend(checksum(bytes).to_le_bytes());
        header.extend([0; 8]);
        header.extend(xxh3_64(&header).to_le_bytes());
        header.try_into().expect("the length is right")
    }

    /// Checks the header and the bytes of a file.
    fn check(&self, file: &[u8]) -> Result<(), ExactError> {
        let damaged = |what: &str| Err(ExactError::damaged(what));
        if !file.starts_with(&MAGIC) {
            let start = &file[..file.len().min(MAGIC.len())];
            return if MAGIC.starts_with(start) {
                damaged("is truncated")
            } else {
                Err(ExactError::new("is not a table file; remove it and build it again"))
            };
        }
        let Some((header, bytes)) = file.split_at_checked(HEADER) else {
            return damaged("is truncated");
        };
        let version = short(header, 8);
        if version != FORMAT_VERSION {
            return Err(ExactError::new(format!(
                "has format version {version}, this build reads version {FORMAT_VERSION}; remove it and build it again"
            )));
        }
        if long(header, 64) != xxh3_64(&header[..64]) {
            return damaged("has a damaged header");
        }
        self.owner.check(short(header, 12), long(header, 16))?;
        if short(header, 28) != FINISHED {
            return damaged("contains an unfinished layer");
        }
        let force = short(header, 24);
        if force != self.force || long(header, 40) != self.size as u64 {
            return damaged(&format!("holds force {force}"));
        }
        if bytes.len() != self.size {
            return damaged(&format!("has {} bytes for {} positions", bytes.len(), self.size));
        }
        if long(header, 48) != checksum(bytes) {
            return damaged("is damaged: its checksum does not match");
        }
        Ok(())
    }
}

/// The table of a layer: a mapped file.
#[derive(Debug)]
pub struct Bytes(Mmap);

impl Bytes {
    /// Opens the file of a finished layer and verifies its checksum.
    pub(super) fn open(id: &TableId<'_>) -> Result<Bytes, ExactError> {
        let path = id.finished();
        let open = || {
            let (file, _) = files::open(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => ExactError::missing(),
                _ => error.into(),
            })?;
            let map = map(&file)?;
            id.check(&map)?;
            Ok(Bytes(map))
        };
        open().map_err(|error: ExactError| error.at(&path))
    }

    /// One byte per position.
    #[inline(always)]
    pub fn get(&self) -> &[u8] {
        &self.0[HEADER..]
    }

    /// The whole file.
    pub(super) fn file(&self) -> &[u8] {
        &self.0
    }

    /// The length in plies of the longest win or loss.
    pub(super) fn longest(&self) -> u32 {
        short(&self.0, 32)
    }

    /// The checksum of the positions' bytes.
    pub(super) fn checksum(&self) -> u64 {
        long(&self.0, 48)
    }
}

/// Locks a folder in which this process builds tables, and creates it if needed.
pub fn lock(folder: &Path) -> Result<FolderLock, ExactError> {
    fs::create_dir_all(folder).map_err(ExactError::io(folder))?;
    let lock = lock_folder(folder).map_err(ExactError::io(folder))?;
    lock.ok_or_else(|| ExactError::new("another process is building tables in this folder").at(folder))
}

/// The file of a finished layer.
pub(super) fn finished_path(folder: &Path, files: &str, force: u32) -> PathBuf {
    folder.join(format!("{files}-{force:02}.table"))
}

/// The file of a packed layer.
pub(super) fn packed_path(folder: &Path, files: &str, force: u32) -> PathBuf {
    folder.join(format!("{files}-{force:02}.packed"))
}

/// The number in four bytes of a file.
#[inline(always)]
pub(super) fn short(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"))
}

/// The number in eight bytes of a file.
pub(super) fn long(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"))
}

/// The checksum of many bytes, as in the header of a table.
pub fn checksum(bytes: &[u8]) -> u64 {
    let chunks: Vec<u8> = bytes.par_chunks(CHUNK).flat_map_iter(|chunk| xxh3_64(chunk).to_le_bytes()).collect();
    xxh3_64(&chunks)
}
