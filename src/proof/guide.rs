//! The interface of proofs for agents: is there a proven win?

use std::sync::{Arc, LazyLock};

use super::strategy::{Next, Proof};
use crate::game::Game;
use crate::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi};

/// Proven wins of some positions of a game.
pub trait Guide<G: Game>: Send + Sync {
    /// The next action of a proven win of the player to move, if there is one.
    fn next(&self, game: &G, position: &G::Position) -> Option<Next>;
}

/// A game for which there may be a proof.
pub trait HasProof: Game {
    /// The proof that is part of the program; `None` for games, boards and programs without one.
    fn proof(&self) -> Option<Arc<dyn Guide<Self>>> {
        None
    }
}

impl Guide<Jarmo> for Proof {
    fn next(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Next> {
        Proof::next(self, game, position)
    }
}

/// The proof of jarmo on the standard board.
static BUILT_IN: LazyLock<Option<Arc<Proof>>> = LazyLock::new(|| {
    let proof = Proof::from_bytes(&Jarmo::standard(), bytes()?);
    Some(Arc::new(proof.expect("the program's own proof is sound")))
});

#[cfg(feature = "agents")]
fn bytes() -> Option<&'static [u8]> {
    Some(include_bytes!("../../checkpoints/jarmo.proof"))
}

#[cfg(not(feature = "agents"))]
fn bytes() -> Option<&'static [u8]> {
    None
}

impl HasProof for Jarmo {
    fn proof(&self) -> Option<Arc<dyn Guide<Jarmo>>> {
        let proof = BUILT_IN.as_ref()?;
        let fits = proof.game().board_text() == self.board_text();
        fits.then(|| proof.clone() as Arc<dyn Guide<Jarmo>>)
    }
}

impl HasProof for Guard {}

impl HasProof for Tammi {}

impl HasProof for ConnectFour {}
