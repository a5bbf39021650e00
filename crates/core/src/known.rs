//! What is known for certain about positions. Through this interface search and agents use exact tables and proofs,
//! which other crates make and read.

use rand::Rng;

use crate::game::{Action, Game, Player, Proven};
use crate::random::{Stream, below};

/// Exact results of some positions of a game.
///
/// If the result of a position is known, or a player who does not lose it, then [`Endgames::after`] is defined for
/// every legal action.
pub trait Endgames<G: Game>: Send + Sync {
    /// The result under perfect play for the player to move, with the plies until a win or loss. `None` if it is not
    /// known. The game must not be over.
    fn known(&self, game: &G, position: &G::Position) -> Option<Proven>;

    /// Writes [`Endgames::known`] of many positions, in their order.
    fn known_all(&self, game: &G, positions: &[G::Position], out: &mut Vec<Option<Proven>>) {
        out.clear();
        out.extend(positions.iter().map(|position| self.known(game, position)));
    }

    /// Whether it is proven, by all rules of the game, that a player does not lose a position. `None` if nothing is
    /// known about that. The game must not be over.
    fn holds(&self, _game: &G, _position: &G::Position, _player: Player) -> Option<bool> {
        None
    }

    /// The force of a position, which tells how much material is on the board. No known position exceeds the tables'
    /// highest force.
    fn force(&self, position: &G::Position) -> u32;

    /// Selects one of the actions that keep a win when the plies to the win are not known, so that the game makes
    /// progress. By default it is a random one.
    fn way_forward(&self, _game: &G, _position: &G::Position, winning: &[Action], stream: &mut Stream) -> Action {
        winning[below(stream.next_u64(), winning.len() as u32) as usize]
    }

    /// A random position of the tables, which may be over. First the force is drawn, then the bare position, both
    /// uniformly.
    fn random(&self, stream: &mut Stream) -> G::Position;

    /// The result of a legal action of a known position, for the player who takes it.
    fn after(&self, game: &G, position: &G::Position, action: Action) -> Proven {
        let mover = game.to_move(position);
        let next = game.after(position, action);
        if let Some(outcome) = game.outcome(&next) {
            return Proven::over(outcome.verdict(mover)).before();
        }
        let known = self.successor(game, &next).expect("successors of known positions are known");
        if game.to_move(&next) == mover { known } else { known.flip() }.before()
    }

    /// [`Endgames::known`] for a position that one action reaches from a known position.
    fn successor(&self, game: &G, position: &G::Position) -> Option<Proven> {
        self.known(game, position)
    }
}

/// A strategy that wins some positions of a game.
pub trait ProofStrategy<G: Game>: Send + Sync {
    /// The next action of a proven win of the player to move, and the most plies until the end if they are known.
    fn next(&self, game: &G, position: &G::Position) -> Option<(Action, Option<u32>)>;
}
