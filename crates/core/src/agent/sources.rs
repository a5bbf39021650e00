//! What the specs of agents name, but core does not have: files, exact tables, proofs.

use std::path::Path;
use std::sync::Arc;

use super::AgentSource;
use crate::game::Game;
use crate::known::{Endgames, Guide};
use crate::net::{FrozenNet, KernelKind};

/// Where agents get what their specs name. An error says what is wrong and what to do.
pub trait Sources<G: Game> {
    /// The network of a trained agent for this game, on this kernel or on the fastest one.
    fn network(&self, game: &G, source: &AgentSource, kernel: Option<KernelKind>) -> Result<FrozenNet, String>;

    /// The exact tables of a folder.
    fn endgames(&self, game: &G, folder: &Path) -> Result<Arc<dyn Endgames<G>>, String>;

    /// The proof for this game and its board, if there is one.
    fn proof(&self, game: &G) -> Option<Arc<dyn Guide<G>>>;
}
