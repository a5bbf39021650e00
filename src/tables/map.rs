//! Reading a file through memory: the only unsafe code of the tables.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a whole file into memory, to be read only.
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: `Mmap::map` asks that nobody changes or cuts the file while it is mapped. Table files are
    // written under another name, synced, renamed into place and never opened for writing again; a
    // newer one replaces the name and leaves the mapped file as it is. Whoever else writes to them
    // breaks the promise that every memory-mapped database rests on. The bytes are plain `u8`s, of
    // which every value is valid, and none is trusted as an address, a length or an index.
    unsafe { Mmap::map(file) }
}
