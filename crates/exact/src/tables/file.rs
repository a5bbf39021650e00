//! Table files: one per force, and one for an unfinished layer.
//!
//! A file is a header of 72 bytes and one byte per index of its [`Layer`]. All numbers are little-endian:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `JARMOTAB` |
//! | 8 | 4 | version of this format |
//! | 12 | 4 | version of the rules |
//! | 16 | 8 | digest of the rules: XXH3-64 of a text. Jarmo: the lines of the board, written `A1-B3 A1-C2 …`; tammi: `tammi 30`, with the limit on plies without a capture |
//! | 24 | 4 | force |
//! | 28 | 4 | `u32::MAX` |
//! | 32 | 4 | the longest distance |
//! | 36 | 4 | 0 |
//! | 40 | 8 | number of bytes after the header |
//! | 48 | 8 | checksum of the positions' bytes |
//! | 56 | 8 | 0 |
//! | 64 | 8 | XXH3-64 of the 64 bytes before |
//!
//! The checksum of the bytes is the XXH3-64 of the XXH3-64s of their chunks of 16 MiB, so that it can be
//! computed in parallel. A file gets its name when it is complete; before, it is part of an unfinished
//! layer (see `solve/spill.rs`).

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::map::map;
use super::solvable::{Layer, Solvable};
use crate::ExactError;
use jarmo_host::files::{self, FolderLock, lock_folder, rename};

/// Goes up when the index, the bytes or the header change, so that older files cannot be used.
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
    /// Its bytes in a file: the version of the rules, then the digest of their settings.
    pub fn to_bytes(self) -> [u8; 12] {
        let mut out = [0; 12];
        out[..4].copy_from_slice(&self.version.to_le_bytes());
        out[4..].copy_from_slice(&self.digest.to_le_bytes());
        out
    }

    /// Refuses a file that was made for other rules.
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

    /// The owner of this game's tables.
    pub fn of<G: Solvable>(game: &G) -> Owner {
        Owner { digest: xxh3_64(game.solved_rules().as_bytes()), version: game.rules_version(), other: G::OTHER_RULES }
    }
}

/// The table of a layer: a mapped file.
#[derive(Debug)]
pub struct Bytes(Mmap);

impl Bytes {
    /// Opens the file of a finished layer and verifies its checksum.
    pub(super) fn open<G: Solvable>(folder: &Path, owner: Owner, layer: &G::Layer) -> Result<Bytes, ExactError> {
        let path = finished_path::<G>(folder, layer.force());
        let open = || {
            let (file, _) = files::open(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => ExactError::missing(),
                _ => error.into(),
            })?;
            let map = map(&file)?;
            check(&map, owner, layer)?;
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

    /// The most plies of a win or loss.
    pub(super) fn longest(&self) -> u32 {
        short(&self.0, 32)
    }

    /// The checksum of the positions' bytes.
    pub(super) fn checksum(&self) -> u64 {
        long(&self.0, 48)
    }
}

/// Locks a folder in which this process builds tables; makes it if it is not there.
pub fn lock(folder: &Path) -> Result<FolderLock, ExactError> {
    fs::create_dir_all(folder).map_err(ExactError::io(folder))?;
    let lock = lock_folder(folder).map_err(ExactError::io(folder))?;
    lock.ok_or_else(|| ExactError::new("another process is building tables in this folder").at(folder))
}

/// The file of a finished layer.
pub(super) fn finished_path<G: Solvable>(folder: &Path, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.table", G::FILES))
}

/// The file of a packed layer.
pub(super) fn packed_path<G: Solvable>(folder: &Path, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.packed", G::FILES))
}

/// The file of an unfinished layer.
pub(super) fn unfinished_path<G: Solvable>(folder: &Path, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.unfinished", G::FILES))
}

/// The file that says what the pages of an unfinished layer include.
pub(super) fn pages_path<G: Solvable>(folder: &Path, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.pages", G::FILES))
}

/// Checks the header and the bytes of a file.
fn check(file: &[u8], owner: Owner, layer: &impl Layer) -> Result<(), ExactError> {
    let damaged = |what: &str| Err(ExactError::damaged(what));
    if !file.starts_with(&MAGIC) {
        let start = &file[..file.len().min(MAGIC.len())];
        return if MAGIC.starts_with(start) {
            damaged("is truncated")
        } else {
            Err(ExactError::new("is not a table file; build it again"))
        };
    }
    let Some((header, bytes)) = file.split_at_checked(HEADER) else {
        return damaged("is truncated");
    };
    let version = short(header, 8);
    if version != FORMAT_VERSION {
        return Err(ExactError::new(format!(
            "has format version {version}, this build reads version {FORMAT_VERSION}; build it again"
        )));
    }
    if long(header, 64) != xxh3_64(&header[..64]) {
        return damaged("has a damaged header");
    }
    owner.check(short(header, 12), long(header, 16))?;
    if short(header, 28) != FINISHED {
        return damaged("holds an unfinished layer");
    }
    let force = short(header, 24);
    if force != layer.force() || long(header, 40) != layer.size() as u64 {
        return damaged(&format!("holds force {force}"));
    }
    if bytes.len() != layer.size() {
        let (bytes, size) = (bytes.len(), layer.size());
        return damaged(&format!("has {bytes} bytes for {size} positions"));
    }
    if long(header, 48) != checksum(bytes) {
        return damaged("is damaged: its checksum does not match");
    }
    Ok(())
}

/// Turns the file of an unfinished layer, whose bytes are all solved, into a table: writes the header, syncs, renames.
pub(super) fn seal_finished<G: Solvable>(
    folder: &Path,
    mut file: &File,
    owner: Owner,
    layer: &G::Layer,
    longest: u32,
) -> Result<(), ExactError> {
    let unfinished = unfinished_path::<G>(folder, layer.force());
    let failed = |error| ExactError::io(&unfinished)(error);
    // The map ends before the header is written.
    let checksum = map(file).map(|bytes| checksum(&bytes[HEADER..])).map_err(failed)?;
    let mut header = Vec::with_capacity(HEADER);
    header.extend(MAGIC);
    header.extend(FORMAT_VERSION.to_le_bytes());
    header.extend(owner.to_bytes());
    header.extend(layer.force().to_le_bytes());
    header.extend(FINISHED.to_le_bytes());
    header.extend(longest.to_le_bytes());
    header.extend([0; 4]);
    header.extend((layer.size() as u64).to_le_bytes());
    header.extend(checksum.to_le_bytes());
    header.extend([0; 8]);
    header.extend(xxh3_64(&header).to_le_bytes());
    debug_assert_eq!(header.len(), HEADER);
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    file.write_all(&header).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    rename(&unfinished, &finished_path::<G>(folder, layer.force())).map_err(failed)
}

/// Writes the table of a layer that was solved in memory.
pub(super) fn write_finished<G: Solvable>(
    folder: &Path,
    bytes: &[u8],
    owner: Owner,
    layer: &G::Layer,
    longest: u32,
) -> Result<(), ExactError> {
    let path = unfinished_path::<G>(folder, layer.force());
    let write = || {
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        file.write_all(&[0; HEADER])?; // sealing replaces it
        file.write_all(bytes)?;
        Ok(file)
    };
    let file = write().map_err(ExactError::io(&path))?;
    seal_finished::<G>(folder, &file, owner, layer, longest)
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
