//! The board of a run or of a match, as a file of this process.

use std::io::Write;

use tempfile::NamedTempFile;

use super::FleetError;

/// Writes a board to a file that is deleted when it is dropped, if there is a board.
pub(super) fn write_board(text: Option<&str>) -> Result<Option<NamedTempFile>, FleetError> {
    let write = |text: &str| {
        let mut file = NamedTempFile::new()?;
        file.write_all(text.as_bytes())?;
        Ok(file)
    };
    let written = text.map(write).transpose();
    written.map_err(|error: std::io::Error| FleetError::new(format!("the board: {error}")))
}
