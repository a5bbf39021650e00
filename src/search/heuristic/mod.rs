//! Simple evaluations of positions, one per game: what the players without a network go by.

mod connect_four;
mod key;
mod scripted;
mod tammi;
mod board;

pub use board::{GuardHeuristic, JarmoHeuristic};
pub use connect_four::ConnectFourHeuristic;
pub use scripted::NoHeuristic;
pub use tammi::TammiHeuristic;

use crate::eval::Value;
use crate::game::{Action, Game};

/// The largest evaluation, in hundredths of a point. Search marks results beyond it.
pub const MOST_CENTIPOINTS: i32 = 20_000;

/// Plies before the cut-off below which two positions with different plies are kept apart.
const NEAR_CUT_OFF: u32 = 64;

/// Hundredths of a point that make a win about three times as likely as a loss.
const CENTIPOINTS_PER_LOGIT: f32 = 100.0;

/// A cheap judgement of the positions of one game.
pub trait Heuristic<G: Game>: Clone + Send + Sync + 'static {
    /// What a position that is not over is worth to the player to move, in hundredths of a point; at
    /// most [`MOST_CENTIPOINTS`] either way.
    fn evaluate(&self, position: &G::Position) -> i32;

    /// The legal actions that change the board so much that an evaluation before them is not to be
    /// trusted: captures and the like. `legal` are all legal actions of the position, or some of them.
    fn forcing(&self, position: &G::Position, legal: &G::Mask) -> G::Mask;

    /// What a forcing action wins at once, for trying the biggest first.
    fn gain(&self, position: &G::Position, action: Action) -> i32;

    /// A number that two positions share only if search may take them for the same: those that differ
    /// in nothing but a ply that is far from any limit may.
    fn key(&self, position: &G::Position) -> u64;

    /// An evaluation as a value, for showing and comparing.
    fn value(centipoints: i32) -> Value {
        let points = centipoints as f32 / 100.0;
        let win = 1.0 / (1.0 + (-(centipoints as f32) / CENTIPOINTS_PER_LOGIT).exp());
        Value {
            win,
            draw: 0.0,
            loss: 1.0 - win,
            score: points,
        }
    }
}

/// A game that has a [`Heuristic`].
pub trait Judged: Game {
    /// Its heuristic.
    type Heuristic: Heuristic<Self>;

    /// Makes the tables of the heuristic for these rules.
    fn heuristic(&self) -> Self::Heuristic;
}

/// How far the cut-off is, as far as it matters.
#[inline]
fn plies_left<G: Game>(game: &G, position: &G::Position) -> u64 {
    let left = game.plies_left(position).unwrap_or(NEAR_CUT_OFF);
    left.min(NEAR_CUT_OFF).into()
}
