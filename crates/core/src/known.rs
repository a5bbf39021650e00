//! What is certain about positions: the interface of exact tables and proofs for search and agents.
//!
//! The tables and proofs themselves are made and read elsewhere.

use rand::Rng;

use crate::game::{Action, Game, Player, Proven};
use crate::random::{Stream, below};

/// Exact results of some positions of a game.
///
/// If a position is known, or if it is known who does not lose it, [`Endgames::after`] knows all its actions.
pub trait Endgames<G: Game>: Send + Sync {
    /// The result under best play for the player to move in a position that is not over, with the plies
    /// until a win or loss; `None` if it is not known.
    fn known(&self, game: &G, position: &G::Position) -> Option<Proven>;

    /// [`Endgames::known`] of many positions at once, in their order.
    fn known_all(&self, game: &G, positions: &[G::Position], out: &mut Vec<Option<Proven>>) {
        out.clear();
        out.extend(positions.iter().map(|position| self.known(game, position)));
    }

    /// Whether a player is proven not to lose a position that is not over, by every rule of the game; `None` if nothing
    /// is known of that.
    fn holds(&self, _game: &G, _position: &G::Position, _player: Player) -> Option<bool> {
        None
    }

    /// The force of a position: what is left on the board. A known position has no more than the tables' highest force.
    fn force(&self, position: &G::Position) -> u32;

    /// Which of the actions that keep a win to take if their plies are not known, so that the win comes closer.
    fn way_forward(&self, _game: &G, _position: &G::Position, winning: &[Action], stream: &mut Stream) -> Action {
        winning[below(stream.next_u64(), winning.len() as u32) as usize]
    }

    /// A random position of the tables, which may be over. All forces are equally likely, and all placements of
    /// a force.
    fn random(&self, stream: &mut Stream) -> G::Position;

    /// The value of a legal action of a known position for the player who takes it.
    fn after(&self, game: &G, position: &G::Position, action: Action) -> Proven {
        let mover = game.to_move(position);
        let next = game.after(position, action);
        if let Some(outcome) = game.outcome(&next) {
            return Proven::over(outcome.verdict(mover)).before();
        }
        let known = self.successor(game, &next).expect("successors of known positions are known");
        if game.to_move(&next) == mover { known } else { known.flip() }.before()
    }

    /// [`Endgames::known`] of a position that is reached from a known one by an action.
    fn successor(&self, game: &G, position: &G::Position) -> Option<Proven> {
        self.known(game, position)
    }
}

/// Proven wins of some positions of a game.
pub trait Guide<G: Game>: Send + Sync {
    /// The next action of a proven win of the player to move, and the most plies until the end if they are known.
    fn next(&self, game: &G, position: &G::Position) -> Option<(Action, Option<u32>)>;
}
