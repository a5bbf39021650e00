//! Reads files of named arrays whose header states their size.

use std::io::{self, Read};
use std::path::Path;

use jarmo_core::net::container::{LENGTH, MOST_HEADER, stated_size, wrong_size};

use crate::files;

/// The bytes of a file, which must not be longer than its header states. A longer file is rejected as soon as its
/// header is read, so even a huge one takes no memory. The error is [invalid data](io::ErrorKind::InvalidData).
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, size) = files::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(LENGTH).read_to_end(&mut bytes)?;
    if let Some(&length) = bytes.first_chunk() {
        let header = u64::from_le_bytes(length).min(MOST_HEADER);
        file.by_ref().take(header).read_to_end(&mut bytes)?;
    }
    // If these bytes are not a header, parsing them will report that.
    let stated = stated_size(&bytes).unwrap_or(0);
    if size > stated.max(bytes.len() as u64) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, wrong_size(size, stated)));
    }
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}
