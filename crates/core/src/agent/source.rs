//! Where the network of an agent comes from: an agent file, or the program itself.

use std::fmt;
use std::path::PathBuf;

/// The spec of the trained agent that is part of the program.
pub(super) const TRAINED: &str = "trained";

/// Where the network of an agent comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentSource {
    /// The program, which has a trained agent for some games.
    Program,
    /// An agent file.
    File(PathBuf),
}

impl fmt::Display for AgentSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentSource::Program => out.write_str(TRAINED),
            AgentSource::File(path) => path.display().fmt(out),
        }
    }
}
