//! What the specs of agents name, but core does not have: files, exact tables, proofs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::game::Game;
use crate::known::{Endgames, Guide};
use crate::net::{FrozenNet, KernelKind};

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

/// Where agents get what their specs name. An error says what is wrong and what to do.
pub trait Sources<G: Game> {
    /// The network of a trained agent for this game, on this kernel or on the fastest one.
    fn network(&self, game: &G, source: &AgentSource, kernel: Option<KernelKind>) -> Result<FrozenNet, String>;

    /// The exact tables of a folder.
    fn endgames(&self, game: &G, folder: &Path) -> Result<Arc<dyn Endgames<G>>, String>;

    /// The proof for this game and its board, if there is one.
    fn proof(&self, game: &G) -> Option<Arc<dyn Guide<G>>>;
}
