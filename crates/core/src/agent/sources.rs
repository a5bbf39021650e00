//! Files, exact tables and proofs that agents need. This crate cannot read them, so the caller provides them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::game::Game;
use crate::known::{Endgames, ProofStrategy};
use crate::net::{FrozenNet, KernelKind};

/// The spec of the shipped agent, which is part of the program.
pub(super) const TRAINED: &str = "trained";

/// Where an agent's network comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentSource {
    /// The program, which contains a trained agent for some games.
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

/// Provides what the specs of agents refer to. An error says what is wrong and how to fix it.
pub trait Sources<G: Game> {
    /// The network from this source, for this game. It uses the given kernel, or the fastest one.
    fn network(&self, game: &G, source: &AgentSource, kernel: Option<KernelKind>) -> Result<FrozenNet, String>;

    /// The exact tables in a folder.
    fn endgames(&self, game: &G, folder: &Path) -> Result<Arc<dyn Endgames<G>>, String>;

    /// The proof for this game and its board, if there is one.
    fn proof(&self, game: &G) -> Option<Arc<dyn ProofStrategy<G>>>;
}
