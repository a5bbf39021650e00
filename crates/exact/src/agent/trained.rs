//! The trained agents that are part of the program, and agent files.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jarmo_core::agent::AgentSource;
use jarmo_core::encode::Encode;
use jarmo_core::error::FileError;
use jarmo_core::net::AgentFile;
use jarmo_host::{agent_file, files};

/// The trained agents that are part of the program, as agent files by game. In a browser tab they come with
/// [`provide`].
#[cfg(target_family = "wasm")]
const TRAINED: [(&str, &[u8]); 0] = [];
#[cfg(not(target_family = "wasm"))]
use jarmo_data::AGENTS as TRAINED;

/// Agent files that were provided as bytes, by path.
static PROVIDED: Mutex<Vec<(String, &'static [u8])>> = Mutex::new(Vec::new());

/// Provides the agent file of a source as bytes. It replaces the file that the program or the disk has under the same
/// name, and stays in memory until the program ends.
pub fn provide(source: &AgentSource, game: &str, bytes: Vec<u8>) {
    let mut provided = PROVIDED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = key(source, game);
    provided.retain(|(other, _)| *other != key);
    provided.push((key, bytes.leak()));
}

/// The key of a source: games have no dot in their names, and agent files have one.
fn key(source: &AgentSource, game: &str) -> String {
    match source {
        AgentSource::Program => game.to_owned(),
        AgentSource::File(path) => path.to_string_lossy().into_owned(),
    }
}

fn provided(source: &AgentSource, game: &str) -> Option<&'static [u8]> {
    let provided = PROVIDED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = key(source, game);
    provided.iter().find(|(other, _)| *other == key).map(|(_, bytes)| *bytes)
}

/// Whether there is an agent file at a path.
pub fn is_file(path: &Path) -> bool {
    path.exists() || provided(&AgentSource::File(path.to_owned()), "").is_some()
}

/// The trained agent of this game that is part of the program, if there is one.
pub fn trained(game: &str) -> Option<AgentSource> {
    bytes(game).map(|_| AgentSource::Program)
}

/// Whether this is the trained agent of this game that is part of the program, or a file with the same bytes.
pub fn is_trained(source: &AgentSource, game: &str) -> bool {
    let Some(bytes) = bytes(game) else { return false };
    match source {
        AgentSource::Program => true,
        AgentSource::File(path) => files::read(path, bytes.len() as u64).is_ok_and(|read| read == bytes),
    }
}

/// The agent file of a source for this game. Fails if it was made for other rules, other features or another board.
pub fn load<G: Encode>(source: &AgentSource, game: &G) -> Result<AgentFile, FileError> {
    let id = game.id();
    let bytes = match source {
        AgentSource::File(path) => match provided(source, id) {
            Some(bytes) => bytes,
            None => return agent_file::load_for(path, game),
        },
        AgentSource::Program => {
            bytes(id).ok_or_else(|| format!("this program has no trained agent for {id}; name a file"))?
        }
    };
    AgentFile::from_bytes(bytes)?.for_game(game)
}

fn bytes(game: &str) -> Option<&'static [u8]> {
    let mut all = TRAINED.into_iter();
    let built_in = || Some(all.find(|(name, _)| *name == game)?.1);
    provided(&AgentSource::Program, game).or_else(built_in)
}
