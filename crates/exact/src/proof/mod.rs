//! Proofs for decided openings of jarmo: a strategy that wins against every reply.
//!
//! A [`Proof`] contains *claims* ("after C1-A2 Black wins") and, for each player, moves for the positions that the
//! strategy leads to. If it contains no move for a position, a short search finds the win. [`check`] replays the
//! strategy against all replies, using only the rules, including the shuttle rule and passes. It needs no tables.
//! [`replay`] does the same with any strategies, even ones that are still being computed.

mod check;
mod file;
mod short;
mod strategy;

pub use check::{Checked, check, replay};
pub use file::{CHECKSUM, MOST_SEARCH, TITLE};
pub use jarmo_core::known::ProofStrategy;
pub use strategy::{Claim, Numbers, Proof};

use std::sync::Arc;
#[cfg(not(target_family = "wasm"))]
use std::sync::LazyLock;

use jarmo_core::game::{Game, Player};
use jarmo_core::games::{Jarmo, JarmoPosition};

/// A player's streak; 0 if the last action was not a move.
fn streak(position: &JarmoPosition, player: Player) -> u8 {
    position.shuttle(player).last_move().map_or(0, |(_, streak)| streak)
}

/// The proof of jarmo on the standard board that is part of the program.
#[cfg(not(target_family = "wasm"))]
pub fn shipped() -> Arc<Proof> {
    static SHIPPED: LazyLock<Arc<Proof>> = LazyLock::new(|| {
        let proof = Proof::from_bytes(&Jarmo::standard(), jarmo_proof::JARMO);
        Arc::new(proof.expect("the program's own proof is sound"))
    });
    SHIPPED.clone()
}

/// The proof for this board, if the program contains one.
pub(crate) fn of_board(game: &Jarmo) -> Option<Arc<dyn ProofStrategy<Jarmo>>> {
    // Builds for WebAssembly have no proof, because it is larger than all the rest of the page.
    #[cfg(target_family = "wasm")]
    let proof: Option<Arc<Proof>> = None;
    #[cfg(not(target_family = "wasm"))]
    let proof = Some(shipped());
    let proof = proof.filter(|proof| proof.game.board_text() == game.board_text())?;
    Some(proof)
}
