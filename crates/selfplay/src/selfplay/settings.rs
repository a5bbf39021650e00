//! The settings of self-play, and the openings that follow from them.

use rand::Rng;
use serde::{Deserialize, Serialize};

use jarmo_core::env::Line;
use jarmo_core::game::Game;
use jarmo_core::numbers::{Bounds, PARALLEL_GAMES, RANDOM_PLIES};
use jarmo_core::random::{Stream, below};
use jarmo_core::search::{SearchRule, SearchSettings};
use jarmo_exact::tables::index::{LEAST_FORCE, MOST_FORCE};
use jarmo_exact::tables::{HasEndgames, RandomEndgames};

/// The settings of self-play.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfPlaySettings {
    /// The number of games that are played at a time.
    pub games: usize,
    /// Simulations per action.
    pub simulations: u32,
    /// The search. With Gumbel, its best action is played, and the policy target is the improved policy. With PUCT, the
    /// action is drawn with probabilities proportional to visits, which are also the policy target.
    #[serde(flatten)]
    pub search: SearchSettings,
    /// Each game starts with 0 to this many random plies.
    pub max_random_plies: u32,
    /// The fraction of games that start from a random endgame, if the game has them.
    pub endgames: f32,
    /// The largest force of a random endgame. In tammi it is at most 5.
    pub endgame_force: u32,
    /// λ of TD(λ): 1 trains on the results of games, 0 on what search expected.
    pub lambda: f32,
}

impl SelfPlaySettings {
    /// The bounds of the settings, besides those of the search.
    pub const BOUNDS: [(&str, Bounds); 6] = [
        ("games", Bounds::Whole(PARALLEL_GAMES)),
        ("simulations", Bounds::whole(1, 1 << 16)),
        ("max_random_plies", Bounds::Whole(RANDOM_PLIES)),
        ("endgames", Bounds::SHARE),
        ("endgame_force", Bounds::whole(LEAST_FORCE as u64, MOST_FORCE as u64)),
        ("lambda", Bounds::SHARE),
    ];
}

/// The resolution with which `endgames` is drawn.
const PARTS: u32 = 1 << 24;

/// How self-play starts and plays games.
#[derive(Clone)]
pub(super) struct Rules<G: Game> {
    pub(super) game: G,
    pub(super) settings: SelfPlaySettings,
    pub(super) search: SearchRule,
    /// Draws random endgames, if some games start from one and the game has them.
    pub(super) endgames: Option<RandomEndgames<G::Position>>,
}

impl<G: Game> Rules<G> {
    pub(super) fn new(game: &G, settings: &SelfPlaySettings) -> Rules<G>
    where
        G: HasEndgames,
    {
        let endgames = (settings.endgames > 0.0).then(|| game.random_endgames(settings.endgame_force));
        let search = settings.search.rule(SearchRule::GUMBEL);
        Rules { game: game.clone(), settings: *settings, search, endgames: endgames.flatten() }
    }

    /// Draws an opening: random plies, none of which ends the game, or a random endgame that is not over.
    pub(super) fn open(&self, stream: &mut Stream) -> Line<G::Position> {
        if let Some(draw) = &self.endgames
            && below(stream.next_u64(), PARTS) < (self.settings.endgames * PARTS as f32) as u32
        {
            loop {
                let start = draw(stream);
                if self.game.outcome(&start).is_none() {
                    return Line::at(start);
                }
            }
        }
        let plies = below(stream.next_u64(), self.settings.max_random_plies + 1);
        Line::random(&self.game, plies, stream)
    }
}
