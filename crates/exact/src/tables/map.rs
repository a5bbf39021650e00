//! Memory-mapped files: the only unsafe code of the tables.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU8;

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

/// Maps a whole file into memory for reading and writing.
pub(super) fn map_mut(file: &File) -> io::Result<MmapMut> {
    // SAFETY: as in [`map`], no other program may change the file. The caller holds the lock of the folder, so
    // no other process of this program maps it for writing, and the map is the only one in this process.
    unsafe { MmapMut::map_mut(file) }
}

/// The same bytes, for several threads.
pub(super) fn atomics(bytes: &mut [u8]) -> &[AtomicU8] {
    // SAFETY: `AtomicU8` has the size, the alignment and the values of `u8`, and the bytes are borrowed for
    // writing for as long as the result lives, so that nobody reads or writes them otherwise.
    unsafe { &*(std::ptr::from_mut(bytes) as *const [AtomicU8]) }
}

/// Takes room for a file on the disk, where the file system can.
#[cfg(any(unix, windows))]
pub(super) fn allocate(file: &File, size: u64) -> io::Result<()> {
    match fs4::FileExt::allocate(file, size) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => file.set_len(size),
        other => other,
    }
}

#[cfg(not(any(unix, windows)))]
pub(super) fn allocate(file: &File, size: u64) -> io::Result<()> {
    file.set_len(size)
}
