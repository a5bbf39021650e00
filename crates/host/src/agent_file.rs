//! Reads and writes agent files.

use std::path::Path;

use jarmo_core::encode::Encode;
use jarmo_core::error::FileError;
use jarmo_core::net::AgentFile;

use crate::container::read_file;
use crate::files::write_whole;
use crate::run_folder::checkpoint_at;

/// Reads a file, whatever game it is for. The folder of a run stands for its newest checkpoint.
pub fn load(path: &Path) -> Result<AgentFile, FileError> {
    if path.is_dir() {
        let newest = checkpoint_at(path, None);
        let (_, newest) =
            newest.map_err(|problem| FileError::at(path, format_args!("a folder, and no run: {problem}")))?;
        return load(&newest);
    }
    let bytes = read_file(path).map_err(|error| FileError::at(path, error))?;
    AgentFile::from_bytes(&bytes).map_err(|error| error.in_file(path))
}

/// Reads an agent file, and checks that it is for this game, as this program knows it.
pub fn load_for<G: Encode>(path: &Path, game: &G) -> Result<AgentFile, FileError> {
    load(path)?.for_game(game).map_err(|error| error.in_file(path))
}

/// Writes the whole file, or nothing if that fails.
pub fn save(file: &AgentFile, path: &Path) -> Result<(), FileError> {
    write_whole(path, &file.to_bytes())
        .map_err(|error| FileError::at(path, format_args!("{error}; nothing was written")))
}
