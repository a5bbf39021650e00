//! How games of self-play begin, and what exact tables know of their ends.

use std::sync::Arc;

use rand::Rng;

use crate::env::Opening;
use crate::game::{Game, Outcome};
use crate::random::{Stream, below};
use crate::tables::{Endgames, RandomEndgames};

/// Parts that a share of games is counted in.
const PARTS: u32 = 1 << 24;

/// A game, and the tables that tell how it ends.
pub(super) struct Rules<G: Game> {
    pub(super) game: G,
    pub(super) tables: Option<Arc<dyn Endgames<G>>>,
    /// The share of games that start from a random endgame, and what draws one.
    pub(super) endgames: Option<(f32, RandomEndgames<G::Position>)>,
    /// The most random actions after the start of the others.
    pub(super) opening_plies: u32,
}

impl<G: Game> Rules<G> {
    /// The outcome that exact tables tell of a position.
    pub(super) fn told(&self, position: &G::Position) -> Option<Outcome> {
        let ending = self.tables.as_ref()?.ending(&self.game, position)?;
        Some(ending.outcome)
    }

    /// Draws how a game begins: with a few random actions, none of which ends it, or with an endgame
    /// that is not over.
    pub(super) fn open(&self, stream: &mut Stream) -> Opening<G::Position> {
        if let Some((share, draw)) = &self.endgames
            && below(stream.next_u64(), PARTS) < (share * PARTS as f32) as u32
        {
            loop {
                let start = draw(stream);
                if self.game.outcome(&start).is_none() {
                    return Opening::at(start);
                }
            }
        }
        let plies = below(stream.next_u64(), self.opening_plies + 1);
        Opening::random(&self.game, plies, stream)
    }
}
