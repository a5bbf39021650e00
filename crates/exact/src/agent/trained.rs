//! The trained agents that are part of the program, and agent files.

use jarmo_core::agent::AgentSource;
use jarmo_core::encode::Encode;
use jarmo_core::net::{AgentFile, FileError};
use jarmo_host::{agent_file, files};

/// The trained agents that are part of the program, as agent files by game.
const TRAINED: [(&str, &[u8]); 4] = [
    (
        "jarmo",
        include_bytes!("../../../../checkpoints/jarmo.safetensors"),
    ),
    (
        "guard",
        include_bytes!("../../../../checkpoints/guard.safetensors"),
    ),
    (
        "tammi",
        include_bytes!("../../../../checkpoints/tammi.safetensors"),
    ),
    (
        "connect_four",
        include_bytes!("../../../../checkpoints/connect_four.safetensors"),
    ),
];

/// The trained agent of this game that is part of the program, if there is one.
pub fn trained(game: &str) -> Option<AgentSource> {
    bytes(game).map(|_| AgentSource::Program)
}

/// Whether this is the trained agent of this game that is part of the program, or a file with the same bytes.
pub fn is_trained(source: &AgentSource, game: &str) -> bool {
    let Some(bytes) = bytes(game) else {
        return false;
    };
    match source {
        AgentSource::Program => true,
        AgentSource::File(path) => {
            files::read(path, bytes.len() as u64).is_ok_and(|read| read == bytes)
        }
    }
}

/// The agent file of this game. Refuses one that was made for other rules, features or another board.
pub fn load<G: Encode>(source: &AgentSource, game: &G) -> Result<AgentFile, FileError> {
    match source {
        AgentSource::File(path) => agent_file::load_for(path, game),
        AgentSource::Program => {
            let game_id = game.id();
            let bytes = bytes(game_id).ok_or_else(|| {
                format!("this program has no trained agent for {game_id}; name a file")
            })?;
            AgentFile::from_bytes(bytes)?.for_game(game)
        }
    }
}

fn bytes(game: &str) -> Option<&'static [u8]> {
    let mut all = TRAINED.iter();
    Some(all.find(|(name, _)| *name == game)?.1)
}
