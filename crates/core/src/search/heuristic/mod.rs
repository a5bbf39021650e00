//! Hand-written evaluations, one per game, for the agents without a network.

mod connect_four;
mod tammi;
mod board;

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

pub use board::BoardHeuristic;

use crate::eval::Value;
use crate::game::{Action, Game};
use crate::games::Scripted;

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

/// Evaluates every position as even: for games that have no heuristic.
#[derive(Clone, Copy, Debug)]
pub struct NoHeuristic;

impl<G: Game> Heuristic<G> for NoHeuristic {
    fn evaluate(&self, _: &G::Position) -> i32 {
        0
    }

    fn forcing(&self, _: &G::Position, _: &G::Mask) -> G::Mask {
        G::Mask::default()
    }

    fn gain(&self, _: &G::Position, _: Action) -> i32 {
        0
    }

    fn key(&self, position: &G::Position) -> u64 {
        FixedState::default().hash_one(position)
    }
}

/// Alpha-beta of a game that is short enough to be searched to its ends.
impl HasHeuristic for Scripted {
    type Heuristic = NoHeuristic;

    fn heuristic(&self) -> Option<NoHeuristic> {
        Some(NoHeuristic)
    }
}

/// Hashes words by folded multiplication: one per word, and a last one to mix.
#[inline]
fn word_key<const WORDS: usize>(words: [u64; WORDS]) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15; // the fractional bits of the golden ratio
    const PI: u64 = 0x243f_6a88_85a3_08d3; // those of pi
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let key = words.into_iter().fold(PI, |key, word| fold(key ^ word, GOLDEN));
    fold(key, GOLDEN.rotate_left(32))
}
