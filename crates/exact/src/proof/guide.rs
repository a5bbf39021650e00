//! The interface of proofs for agents: is there a proven win?

use std::sync::Arc;
#[cfg(not(target_family = "wasm"))]
use std::sync::LazyLock;

#[cfg(not(target_family = "wasm"))]
use super::strategy::Proof;
use jarmo_core::game::Game;
use jarmo_core::games::{ConnectFour, Guard, Jarmo, Tammi};
use jarmo_core::known::Guide;

/// A game for which there may be a proof.
pub trait HasProof: Game {
    /// The proof that is part of the program; `None` for games, boards and programs without one.
    fn proof(&self) -> Option<Arc<dyn Guide<Self>>> {
        None
    }
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

// A browser tab does without, because the proof is larger than all the rest of the page.
#[cfg(target_family = "wasm")]
impl HasProof for Jarmo {}

#[cfg(not(target_family = "wasm"))]
impl HasProof for Jarmo {
    fn proof(&self) -> Option<Arc<dyn Guide<Jarmo>>> {
        let proof = shipped();
        let fits = proof.game().board_text() == self.board_text();
        fits.then_some(proof as Arc<dyn Guide<Jarmo>>)
    }
}

impl HasProof for Guard {}

impl HasProof for Tammi {}

impl HasProof for ConnectFour {}
