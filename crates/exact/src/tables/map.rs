//! Memory-mapped files: the only unsafe code of the tables.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapMut};

/// Maps a whole file into memory, read-only.
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: `Mmap::map` requires that the file is not modified or truncated while it is mapped. Table
    // files are written under a temporary name, synced, renamed into place, and never opened for writing
    // again; a rebuilt file takes over the name and leaves the mapped file unchanged. As with every
    // memory-mapped database, other programs must not write to these files. The bytes are plain `u8`s:
    // every value is valid, and a wrong one can at worst end the program with a message.
    unsafe { Mmap::map(file) }
}

/// Maps a whole file into memory, for reading and writing. Changes survive the end of the process.
pub fn map_mut(file: &File) -> io::Result<MmapMut> {
    // SAFETY: no other program may change or truncate the file. The caller holds the lock of the folder, so
    // no other process of this program maps it for writing, and the map is the only one in this process.
    unsafe { MmapMut::map_mut(file) }
}

/// Reserves disk space for a file, if the file system can.
pub fn allocate(file: &File, size: u64) -> io::Result<()> {
    #[cfg(any(unix, windows))]
    match fs4::FileExt::allocate(file, size) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        other => return other,
    }
    file.set_len(size)
}
