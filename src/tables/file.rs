//! Table files: one for each force, and one for a layer under way.
//!
//! A file is a header of 72 bytes and one byte for each position, in the order of
//! [`Layer`]. All numbers are little-endian:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `JARMOTAB` |
//! | 8 | 4 | version of this format |
//! | 12 | 4 | version of the rules |
//! | 16 | 8 | digest of the web: XXH3-64 of its lines, as in `A1-B3 A1-C2 …` |
//! | 24 | 4 | force |
//! | 28 | 4 | the next distance to look at; `u32::MAX` in a finished file |
//! | 32 | 4 | the longest distance |
//! | 36 | 4 | 0 |
//! | 40 | 8 | positions |
//! | 48 | 8 | checksum of the positions' bytes |
//! | 56 | 8 | 0 |
//! | 64 | 8 | XXH3-64 of the 64 bytes before |
//!
//! The checksum of the bytes is the XXH3-64 of the XXH3-64s of their pieces of 16 MiB, so that all
//! cores can work on it. Files are written under another name, synced, and renamed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::index::Layer;
use super::map::map;
use super::solve::Unfinished;
use crate::files::write_whole_by;
use crate::game::Game;
use crate::games::Jarmo;
use crate::games::web::Web;

/// Goes up whenever files of an older version cannot be read any more, or mean something else: the
/// index, the bytes, or the header.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"JARMOTAB";
const HEADER: usize = 72;
const PIECE: usize = 1 << 24;
const FINISHED: u32 = u32::MAX;

/// What tables belong to: a web and a version of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    web: u64,
    rules: u32,
}

impl Owner {
    /// The owner of tables for this game.
    pub fn of(game: &Jarmo) -> Owner {
        Owner {
            web: web_digest(game.web()),
            rules: game.rules_version(),
        }
    }
}

/// A digest of the lines of a web; its name does not count.
pub fn web_digest(web: &Web) -> u64 {
    xxh3_64(web.text().as_bytes())
}

/// What is wrong with a table file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FileError {
    path: PathBuf,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with a table file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(io::Error),
    /// It is not there.
    #[error("is missing; build it again with `jarmo tables build`")]
    Missing,
    /// It is no table file, or not of this format.
    #[error("{0}; build it again with `jarmo tables build`")]
    Format(String),
    /// It belongs to another web, other rules, or another layer.
    #[error("{0}")]
    Other(String),
    /// It is not as it was written.
    #[error("{0}; build it again with `jarmo tables build`")]
    Damaged(String),
}

impl FileError {
    pub(super) fn new(path: &Path, problem: Problem) -> FileError {
        let path = path.to_owned();
        FileError { path, problem }
    }

    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> FileError {
        move |error| FileError::new(path, Problem::Io(error))
    }
}

/// The bytes of a layer, in memory or in a file.
#[derive(Debug)]
pub enum Bytes {
    /// Solved just now.
    Owned(Vec<u8>),
    /// Behind the header of a mapped file.
    Mapped(Mmap),
}

impl Bytes {
    /// One byte for each position.
    #[inline(always)]
    pub fn get(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(map) => &map[HEADER..],
        }
    }
}

/// The file of a finished layer.
pub fn finished_path(folder: &Path, force: u32) -> PathBuf {
    folder.join(format!("force-{force:02}.table"))
}

/// The file of a layer under way.
pub fn unfinished_path(folder: &Path, force: u32) -> PathBuf {
    folder.join(format!("force-{force:02}.unfinished"))
}

/// Opens the file of a finished layer and checks every byte of it.
pub fn open_finished(folder: &Path, owner: Owner, layer: &Layer) -> Result<Mmap, FileError> {
    let path = finished_path(folder, layer.force());
    let (map, next, _) = open(&path, owner, layer)?;
    if next != FINISHED {
        let what = Problem::Damaged("holds an unfinished layer".to_owned());
        return Err(FileError::new(&path, what));
    }
    Ok(map)
}

/// Writes the file of a finished layer.
pub fn write_finished(
    folder: &Path,
    owner: Owner,
    layer: &Layer,
    longest: u32,
    bytes: &[u8],
) -> Result<(), FileError> {
    let path = finished_path(folder, layer.force());
    write(&path, owner, layer, FINISHED, longest, bytes)
}

/// Reads a layer under way.
pub fn read_unfinished(
    folder: &Path,
    owner: Owner,
    layer: &Layer,
) -> Result<Unfinished, FileError> {
    let path = unfinished_path(folder, layer.force());
    let (map, next, longest) = open(&path, owner, layer)?;
    Ok(Unfinished {
        bytes: map[HEADER..].to_vec(),
        next,
        longest,
    })
}

/// Writes a layer under way.
pub fn write_unfinished(
    folder: &Path,
    owner: Owner,
    layer: &Layer,
    state: &Unfinished,
) -> Result<(), FileError> {
    let path = unfinished_path(folder, layer.force());
    write(&path, owner, layer, state.next, state.longest, &state.bytes)
}

fn open(path: &Path, owner: Owner, layer: &Layer) -> Result<(Mmap, u32, u32), FileError> {
    let fail = |problem| FileError::new(path, problem);
    let file = File::open(path).map_err(|error| {
        fail(if error.kind() == io::ErrorKind::NotFound {
            Problem::Missing
        } else {
            Problem::Io(error)
        })
    })?;
    let map = map(&file).map_err(FileError::io(path))?;
    let (next, longest) = check(&map, owner, layer).map_err(fail)?;
    Ok((map, next, longest))
}

/// Checks everything about a file; answers the next and the longest distance.
fn check(file: &[u8], owner: Owner, layer: &Layer) -> Result<(u32, u32), Problem> {
    let damaged = |what: &str| Err(Problem::Damaged(what.to_owned()));
    if !file.starts_with(&MAGIC) {
        let start = &file[..file.len().min(MAGIC.len())];
        return if MAGIC.starts_with(start) {
            damaged("is cut off")
        } else {
            Err(Problem::Format("is no table file".to_owned()))
        };
    }
    let Some((header, bytes)) = file.split_at_checked(HEADER) else {
        return damaged("is cut off");
    };
    let long = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    let short = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if short(8) != FORMAT_VERSION {
        return Err(Problem::Format(format!(
            "is of format version {}, this build reads version {FORMAT_VERSION}",
            short(8)
        )));
    }
    if long(64) != xxh3_64(&header[..64]) {
        return damaged("has a damaged header");
    }
    if short(12) != owner.rules {
        return Err(Problem::Other(format!(
            "was built for version {} of the rules, this build has version {}; use another directory",
            short(12),
            owner.rules
        )));
    }
    if long(16) != owner.web {
        return Err(Problem::Other(format!(
            "was built for another web (digest {:016x}, this game's is {:016x}); name that web's file \
             with --web, or use another directory",
            long(16),
            owner.web
        )));
    }
    if short(24) != layer.force() || long(40) != layer.len() as u64 {
        return Err(Problem::Damaged(format!("holds force {}", short(24))));
    }
    if bytes.len() != layer.len() {
        return Err(Problem::Damaged(format!(
            "has {} bytes for {} positions",
            bytes.len(),
            layer.len()
        )));
    }
    if long(48) != checksum(bytes) {
        return damaged("is not as it was written: the checksum is another one");
    }
    Ok((short(28), short(32)))
}

fn write(
    path: &Path,
    owner: Owner,
    layer: &Layer,
    next: u32,
    longest: u32,
    bytes: &[u8],
) -> Result<(), FileError> {
    let mut header = Vec::with_capacity(HEADER);
    header.extend(MAGIC);
    header.extend(FORMAT_VERSION.to_le_bytes());
    header.extend(owner.rules.to_le_bytes());
    header.extend(owner.web.to_le_bytes());
    header.extend(layer.force().to_le_bytes());
    header.extend(next.to_le_bytes());
    header.extend(longest.to_le_bytes());
    header.extend([0; 4]);
    header.extend((layer.len() as u64).to_le_bytes());
    header.extend(checksum(bytes).to_le_bytes());
    header.extend([0; 8]);
    header.extend(xxh3_64(&header).to_le_bytes());
    debug_assert_eq!(header.len(), HEADER);

    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let temporary = PathBuf::from(temporary);
    write_whole_by(path, &temporary, &[&header, bytes]).map_err(FileError::io(path))
}

fn checksum(bytes: &[u8]) -> u64 {
    let pieces: Vec<u8> = bytes
        .par_chunks(PIECE)
        .flat_map_iter(|piece| xxh3_64(piece).to_le_bytes())
        .collect();
    xxh3_64(&pieces)
}
