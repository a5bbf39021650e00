//! Where the network of an agent comes from: an agent file, or the program itself.

use std::fmt;
use std::path::PathBuf;

use crate::encode::Encode;
use crate::files;
use crate::net::{AgentFile, FileError};

/// The spec of the trained agent that is part of the program.
pub(super) const TRAINED: &str = "trained";

/// The trained agents that are part of the program, as agent files by game.
#[cfg(feature = "agents")]
const BUILT_IN: [(&str, &[u8]); 4] = [
    (
        "jarmo",
        include_bytes!("../../checkpoints/jarmo.safetensors"),
    ),
    (
        "guard",
        include_bytes!("../../checkpoints/guard.safetensors"),
    ),
    (
        "tammi",
        include_bytes!("../../checkpoints/tammi.safetensors"),
    ),
    (
        "connect_four",
        include_bytes!("../../checkpoints/connect_four.safetensors"),
    ),
];
#[cfg(not(feature = "agents"))]
const BUILT_IN: [(&str, &[u8]); 0] = [];

/// Where the network of an agent comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentSource {
    /// The program, which has one trained agent per game if it was built with feature `agents`.
    Program,
    /// An agent file.
    File(PathBuf),
}

impl AgentSource {
    /// The program, if it has a trained agent for this game.
    pub fn built_in(game: &str) -> Option<AgentSource> {
        bytes(game).map(|_| AgentSource::Program)
    }

    /// Whether this is the trained agent of this game that is part of the program, or a file with the same bytes.
    pub fn is_built_in(&self, game: &str) -> bool {
        let Some(bytes) = bytes(game) else {
            return false;
        };
        match self {
            AgentSource::Program => true,
            AgentSource::File(path) => {
                files::read(path, bytes.len() as u64).is_ok_and(|read| read == bytes)
            }
        }
    }

    /// The agent for this game. Refuses one that was made for other rules, features or another board.
    pub fn load<G: Encode>(&self, game: &G) -> Result<AgentFile, FileError> {
        match self {
            AgentSource::File(path) => AgentFile::load_for(path, game),
            AgentSource::Program => {
                let missing = || {
                    let game = game.id();
                    format!(
                        "this program was built without a trained agent for {game}; name a file"
                    )
                };
                AgentFile::from_bytes(bytes(game.id()).ok_or_else(missing)?)?.for_game(game)
            }
        }
    }
}

fn bytes(game: &str) -> Option<&'static [u8]> {
    let mut all = BUILT_IN.iter();
    Some(all.find(|(name, _)| *name == game)?.1)
}

impl fmt::Display for AgentSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentSource::Program => out.write_str(TRAINED),
            AgentSource::File(path) => path.display().fmt(out),
        }
    }
}
