//! A position of a game whose type is not known.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Game, Outcome, Player};

/// A position of any game: a value that is cheap to clone. Only its own game can read it. Positions are equal if search
/// treats them as the same. The settings of their games are not compared; the caller must ensure that these are the
/// same.
#[derive(Clone)]
pub struct AnyPosition {
    /// The player to move.
    pub to_move: Player,
    /// The number of actions played so far.
    pub ply: u32,
    /// The result, once the game is over.
    pub outcome: Option<Outcome>,
    position: Arc<dyn Content>,
}

impl AnyPosition {
    /// A position of this game.
    pub fn new<G: Game>(game: &G, position: G::Position) -> AnyPosition {
        AnyPosition {
            to_move: game.to_move(&position),
            ply: game.ply(&position),
            outcome: game.outcome(&position),
            position: Arc::new(position),
        }
    }

    /// The position as one of game `G`.
    ///
    /// # Panics
    /// Panics if it is a position of another game.
    pub fn of<G: Game>(&self) -> &G::Position {
        let position: &dyn Any = &*self.position;
        position.downcast_ref().expect("a position is only used with its own game")
    }
}

/// A [`Game::Position`] without its type.
trait Content: Any + Send + Sync {
    fn is(&self, other: &dyn Any) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<P: Any + Eq + Hash + Send + Sync> Content for P {
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl PartialEq for AnyPosition {
    fn eq(&self, other: &AnyPosition) -> bool {
        self.position.is(&*other.position)
    }
}

impl Eq for AnyPosition {}

impl Hash for AnyPosition {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.position.hash_into(hasher);
    }
}

impl fmt::Debug for AnyPosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AnyPosition").field("to_move", &self.to_move).field("ply", &self.ply).finish_non_exhaustive()
    }
}
