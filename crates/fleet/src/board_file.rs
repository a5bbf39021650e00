//! The board of a run or of a match, as a file of this process.

use std::path::{Path, PathBuf};

use super::FleetError;
use jarmo_host::files::write_whole;

/// Writes a board to a file of this process, if there is one. Boards that are in use at the same time have different
/// `users`.
pub(super) fn write_board(text: Option<&str>, user: &str) -> Result<Option<BoardFile>, FleetError> {
    let Some(text) = text else {
        return Ok(None);
    };
    let name = format!("jarmo-board-{}-{user}", std::process::id());
    let file = BoardFile(std::env::temp_dir().join(name));
    write_whole(file.path(), text.as_bytes()).map_err(FleetError::new)?;
    Ok(Some(file))
}

/// A file that is deleted when it is dropped.
pub(super) struct BoardFile(PathBuf);

impl BoardFile {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for BoardFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // a leftover is harmless
    }
}
