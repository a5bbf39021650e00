//! Hand-written evaluations, one per game, for the agents without a network.

mod connect_four;
mod key;
mod none;
mod tammi;
mod board;

pub use board::{GuardHeuristic, JarmoHeuristic};
pub use connect_four::ConnectFourHeuristic;
pub use none::NoHeuristic;
pub use tammi::TammiHeuristic;

use crate::eval::Value;
use crate::game::{Action, Game};

/// The largest evaluation, in hundredths of a point. Alpha-beta uses larger scores for wins.
pub const MAX_CENTIPOINTS: i32 = 20_000;

/// Within this many plies of the cut-off, keys of positions depend on the ply.
const NEAR_CUT_OFF: u32 = 64;

/// Scale of the logistic function from evaluations to win probabilities.
const CENTIPOINTS_PER_LOGIT: f32 = 100.0;

/// A hand-written evaluation for one game.
pub trait Heuristic<G: Game>: Clone + Send + Sync + 'static {
    /// Evaluates a position for the player to move, in hundredths of a point: from `-MAX_CENTIPOINTS` to
    /// [`MAX_CENTIPOINTS`]. The game is not over.
    fn evaluate(&self, position: &G::Position) -> i32;

    /// Those of the actions in `legal` that change the evaluation a lot: captures and the like. `legal`
    /// holds some or all legal actions of the position.
    fn forcing(&self, position: &G::Position, legal: &G::Mask) -> G::Mask;

    /// The immediate gain of a forcing action, for move ordering and pruning.
    fn gain(&self, position: &G::Position, action: Action) -> i32;

    /// The position's key in the transposition table. Positions that differ only in a ply count far from
    /// any limit may share a key.
    fn key(&self, position: &G::Position) -> u64;

    /// Converts an evaluation to a value.
    fn value(centipoints: i32) -> Value {
        let points = centipoints as f32 / 100.0;
        let win = 1.0 / (1.0 + (-(centipoints as f32) / CENTIPOINTS_PER_LOGIT).exp());
        Value { win, draw: 0.0, loss: 1.0 - win, score: points }
    }
}

/// A game that may have a [`Heuristic`].
pub trait HasHeuristic: Game {
    /// The heuristic of this game; [`NoHeuristic`] if it has none.
    type Heuristic: Heuristic<Self>;

    /// Builds the heuristic for these rules. Without one, `greedy` and `alphabeta` do not play the game.
    fn heuristic(&self) -> Option<Self::Heuristic> {
        None
    }
}

/// The plies left until the cut-off, at most [`NEAR_CUT_OFF`].
#[inline]
fn plies_left<G: Game>(game: &G, position: &G::Position) -> u64 {
    game.plies_left(position).unwrap_or(NEAR_CUT_OFF).min(NEAR_CUT_OFF).into()
}
