//! Hand-written evaluations, one per game, for agents without a network.

mod connect_four;
mod tammi;
mod board;

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

pub use board::BoardHeuristic;

use crate::eval::Value;
use crate::game::{Action, Game};
use crate::games::Scripted;

/// The largest evaluation, in hundredths of a point. Alpha-beta uses larger scores for proven wins.
pub const MAX_CENTIPOINTS: i32 = 20_000;

/// The key of a position contains its ply if the move limit is at most this many plies away.
const NEAR_CUT_OFF: u32 = 64;

/// An evaluation of this size means odds of e to 1 (the scale of the logistic function).
const CENTIPOINTS_PER_LOGIT: f32 = 100.0;

/// A hand-written evaluation for one game.
pub trait Heuristic<G: Game>: Clone + Send + Sync + 'static {
    /// Evaluates a position for the player to move, in hundredths of a point, from `-MAX_CENTIPOINTS` to
    /// [`MAX_CENTIPOINTS`]. The game must not be over.
    fn evaluate(&self, position: &G::Position) -> i32;

    /// Returns the actions of `legal` that can change the evaluation a lot, such as captures. `legal` has some or all
    /// legal actions of the position.
    fn forcing(&self, position: &G::Position, legal: &G::Mask) -> G::Mask;

    /// How much a forcing action gains at once, for move ordering and pruning.
    fn gain(&self, position: &G::Position, action: Action) -> i32;

    /// The position's key in the transposition table. Positions that differ only in counters of plies may share a key
    /// while all limits are far away.
    fn key(&self, position: &G::Position) -> u64;

    /// Converts an evaluation to a value: win probability 1 / (1 + e^(−centipoints / 100)), and no draws.
    fn value(centipoints: i32) -> Value {
        let points = centipoints as f32 / 100.0;
        let share = |centipoints: i32| 1.0 / (1.0 + (-(centipoints as f32) / CENTIPOINTS_PER_LOGIT).exp());
        // 1 - win would be rounded where the loss is small.
        Value { win: share(centipoints), draw: 0.0, loss: share(-centipoints), score: points }
    }
}

/// A game that may have a [`Heuristic`].
pub trait HasHeuristic: Game {
    /// The heuristic of this game; [`NoHeuristic`] if it has none.
    type Heuristic: Heuristic<Self>;

    /// Builds the heuristic for these rules. If it returns `None`, the agents `greedy` and `alphabeta` cannot play
    /// the game.
    fn heuristic(&self) -> Option<Self::Heuristic> {
        None
    }
}

/// The plies left until the move limit, or [`NEAR_CUT_OFF`] if there are more.
#[inline]
fn plies_left<G: Game>(game: &G, position: &G::Position) -> u64 {
    game.plies_left(position).unwrap_or(NEAR_CUT_OFF).min(NEAR_CUT_OFF).into()
}

/// Evaluates every position as even. It is for games that have no heuristic.
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

impl HasHeuristic for Scripted {
    type Heuristic = NoHeuristic;
}

/// Hashes words by folded multiplication, once per word and once more at the end for mixing.
#[inline]
fn word_key<const WORDS: usize>(words: [u64; WORDS]) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15; // the fractional bits of the golden ratio
    const PI: u64 = 0x243f_6a88_85a3_08d3; // the fractional bits of pi
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let key = words.into_iter().fold(PI, |key, word| fold(key ^ word, GOLDEN));
    fold(key, GOLDEN.rotate_left(32))
}
