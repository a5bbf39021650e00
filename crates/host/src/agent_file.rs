//! Agent files on this machine.

use std::path::Path;

use jarmo_core::encode::Encode;
use jarmo_core::error::FileError;
use jarmo_core::net::AgentFile;

use crate::container::read_file;
use crate::files::write_whole;

/// Reads a file, whatever game it is for.
pub fn load(path: &Path) -> Result<AgentFile, FileError> {
    if path.is_dir() {
        let problem = "a folder, not an agent file; export a run to make one of it";
        return Err(FileError::at(path, problem));
    }
    let bytes = read_file(path).map_err(|error| FileError::at(path, error))?;
    AgentFile::from_bytes(&bytes).map_err(|error| error.in_file(path))
}

/// Reads a file and makes sure that it plays this game as this program knows it.
pub fn load_for<G: Encode>(path: &Path, game: &G) -> Result<AgentFile, FileError> {
    load(path)?.for_game(game).map_err(|error| error.in_file(path))
}

/// Writes a file as a whole or not at all.
pub fn save(file: &AgentFile, path: &Path) -> Result<(), FileError> {
    write_whole(path, &file.to_bytes())
        .map_err(|error| FileError::at(path, format_args!("{error}; nothing was written")))
}
