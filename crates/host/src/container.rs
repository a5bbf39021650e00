//! Reads files of named arrays, of a size that their header states.

use std::io::{self, Read};
use std::path::Path;

use jarmo_core::net::container::{LENGTH, MOST_HEADER, stated_size, wrong_size};

use crate::files;

/// The bytes of a file that is not longer than its header states. A longer one is refused after its
/// header, however large it is, as [invalid data](io::ErrorKind::InvalidData).
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, size) = files::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(LENGTH).read_to_end(&mut bytes)?;
    if let Some(&length) = bytes.first_chunk() {
        let header = u64::from_le_bytes(length).min(MOST_HEADER);
        file.by_ref().take(header).read_to_end(&mut bytes)?;
    }
    // Bytes that are no header are refused for that when they are parsed.
    let stated = stated_size(&bytes).unwrap_or(0);
    if size > stated.max(bytes.len() as u64) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, wrong_size(size, stated)));
    }
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}
