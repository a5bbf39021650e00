//! What the specs of agents name, but core does not have: files, exact tables, proofs.

use std::path::Path;
use std::sync::Arc;

use super::AgentSource;
use crate::encode::Encode;
use crate::game::Game;
use crate::known::{Endgames, Guide};
use crate::net::{FrozenNet, KernelKind};

/// Where agents get what their specs name. An error says what is wrong and what to do.
pub trait Sources<G: Game> {
    /// The network of a trained agent for this game, on this kernel or on the fastest one. `None` if this processor
    /// cannot run the kernel.
    fn network(&self, game: &G, source: &AgentSource, kernel: Option<KernelKind>) -> Result<Option<FrozenNet>, String>;

    /// The exact tables of a folder.
    fn endgames(&self, game: &G, folder: &Path) -> Result<Arc<dyn Endgames<G>>, String>;

    /// The proof for this game and its board, if there is one.
    fn proof(&self, game: &G) -> Option<Arc<dyn Guide<G>>>;
}

/// No files, tables and proofs: for agents that need none.
#[derive(Clone, Copy, Debug)]
pub struct NoSources;

impl<G: Encode> Sources<G> for NoSources {
    fn network(&self, _: &G, source: &AgentSource, _: Option<KernelKind>) -> Result<Option<FrozenNet>, String> {
        Err(format!("there are no agent files here, so {source} cannot be read"))
    }

    fn endgames(&self, _: &G, folder: &Path) -> Result<Arc<dyn Endgames<G>>, String> {
        let folder = folder.display();
        Err(format!("there are no exact tables here, so {folder} cannot be read"))
    }

    fn proof(&self, _: &G) -> Option<Arc<dyn Guide<G>>> {
        None
    }
}
