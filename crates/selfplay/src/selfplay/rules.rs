//! The openings of self-play.

use rand::Rng;

use super::SelfPlaySettings;
use jarmo_core::env::Line;
use jarmo_core::game::Game;
use jarmo_core::random::{Stream, below};
use jarmo_exact::tables::{HasEndgames, RandomEndgames};

/// The resolution of a share of games.
const PARTS: u32 = 1 << 24;

/// A game with its openings.
#[derive(Clone)]
pub(super) struct Rules<G: Game> {
    pub(super) game: G,
    /// The share of games that start from a random endgame, and the generator of endgames.
    pub(super) endgames: Option<(f32, RandomEndgames<G::Position>)>,
    /// The maximum number of random plies at the start of the other games.
    pub(super) max_random_plies: u32,
}

impl<G: Game> Rules<G> {
    pub(super) fn new(game: &G, settings: &SelfPlaySettings) -> Rules<G>
    where
        G: HasEndgames,
    {
        let endgames = settings.random_endgames(game);
        Rules {
            game: game.clone(),
            endgames: endgames.map(|draw| (settings.endgames, draw)),
            max_random_plies: settings.max_random_plies,
        }
    }

    /// Draws an opening: random plies, none of which ends the game, or a random endgame that is not over.
    pub(super) fn open(&self, stream: &mut Stream) -> Line<G::Position> {
        if let Some((share, draw)) = &self.endgames
            && below(stream.next_u64(), PARTS) < (share * PARTS as f32) as u32
        {
            loop {
                let start = draw(stream);
                if self.game.outcome(&start).is_none() {
                    return Line::at(start);
                }
            }
        }
        let plies = below(stream.next_u64(), self.max_random_plies + 1);
        Line::random(&self.game, plies, stream)
    }
}
