//! Memory that is a file and that threads share: the only unsafe code of the lab.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU8;

use memmap2::MmapMut;

/// Maps a whole file into memory for reading and writing.
pub(super) fn map_mut(file: &File) -> io::Result<MmapMut> {
    // SAFETY: no other program may change or truncate the file. The caller holds the lock of the folder, so
    // no other process of this program maps it for writing, and the map is the only one in this process.
    unsafe { MmapMut::map_mut(file) }
}

/// The same bytes, for several threads.
pub(super) fn atomics(bytes: &mut [u8]) -> &[AtomicU8] {
    // SAFETY: `AtomicU8` has the size, the alignment and the values of `u8`, and the bytes are borrowed for
    // writing for as long as the result lives, so that nobody reads or writes them otherwise.
    unsafe { &*(std::ptr::from_mut(bytes) as *const [AtomicU8]) }
}
