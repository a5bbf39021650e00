//! When a game of self-play is over and how: by the rules, or by what exact tables know.

use std::sync::Arc;

use rand::Rng;

use crate::game::{Action, Game, Outcome};
use crate::random::{Stream, any_of, below};
use crate::tables::{Endgames, RandomEndgames};

/// Parts that a share of games is counted in.
const PARTS: u32 = 1 << 24;

/// A game, and the tables that tell how it ends.
pub(super) struct Rules<G: Game> {
    pub(super) game: G,
    pub(super) tables: Option<Arc<dyn Endgames<G>>>,
    /// Whether a game ends where the tables know the rest.
    pub(super) tables_end: bool,
    /// The share of games that start from a random endgame, and what draws one.
    pub(super) endgames: Option<(f32, RandomEndgames<G::Position>)>,
    /// The most random actions after the start of the others.
    pub(super) opening_plies: u32,
}

/// How a game begins.
pub(super) struct Opening<P> {
    pub(super) start: P,
    /// Random actions.
    pub(super) played: Vec<Action>,
    /// The position after them.
    pub(super) position: P,
}

/// How a game ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    /// Whether the tables told it, and not the rules.
    pub(super) exact: bool,
}

impl<G: Game> Rules<G> {
    /// The end of a game that has come to this position, if it goes no further.
    pub(super) fn end(&self, position: &G::Position) -> Option<End> {
        if let Some(outcome) = self.game.outcome(position) {
            return Some(End {
                outcome,
                exact: false,
            });
        }
        self.tables_end.then(|| self.exact(position)).flatten()
    }

    /// The end that the tables tell of a position at which the game goes on.
    pub(super) fn told(&self, position: &G::Position) -> Option<End> {
        (!self.tables_end).then(|| self.exact(position)).flatten()
    }

    /// The end of the game by the tables.
    fn exact(&self, position: &G::Position) -> Option<End> {
        let ending = self.tables.as_ref()?.ending(&self.game, position)?;
        Some(End {
            outcome: ending.outcome,
            exact: true,
        })
    }

    /// Draws how a game begins: with a few random actions, none of which ends it, or with an endgame
    /// that is not over.
    pub(super) fn open(&self, stream: &mut Stream) -> Opening<G::Position> {
        if let Some((share, draw)) = &self.endgames
            && below(stream.next_u64(), PARTS) < (share * PARTS as f32) as u32
        {
            let start = loop {
                let start = draw(stream);
                if self.end(&start).is_none() {
                    break start;
                }
            };
            return Opening {
                start,
                played: Vec::new(),
                position: start,
            };
        }
        let plies = below(stream.next_u64(), self.opening_plies + 1);
        let start = self.game.start();
        let (mut position, mut played) = (start, Vec::new());
        for _ in 0..plies {
            let before = position;
            let action = any_of(&self.game.legal(&position), stream.next_u64());
            self.game.play(&mut position, action);
            if self.end(&position).is_some() {
                position = before;
                break;
            }
            played.push(action);
        }
        Opening {
            start,
            played,
            position,
        }
    }
}
