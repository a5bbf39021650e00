//! Settings of self-play, and the openings that follow from them.

use rand::Rng;
use serde::{Deserialize, Serialize};

use jarmo_core::env::Line;
use jarmo_core::game::Game;
use jarmo_core::numbers::{Bounds, PARALLEL_GAMES, RANDOM_PLIES};
use jarmo_core::random::{Stream, below};
use jarmo_core::search::SearchRule;
use jarmo_exact::tables::index::{LEAST_FORCE, MOST_FORCE};
use jarmo_exact::tables::{HasEndgames, RandomEndgames};

/// Settings of self-play.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlaySettings {
    /// Games in parallel.
    pub games: usize,
    /// Simulations per action.
    pub simulations: u32,
    /// The search rule. With Gumbel, the remaining action is played, and the policy target is the improved policy. With
    /// PUCT, the action is drawn by visit counts, which are also the policy target.
    pub root: SearchRule,
    /// For Gumbel search: if all values at a node span less than this, their influence shrinks in
    /// proportion, because small differences are mostly noise. 0 always rescales to the full range.
    pub least_range: f32,
    /// A game starts with 0 to this many random plies.
    pub max_random_plies: u32,
    /// The share of games that start from a random endgame, if the game has them.
    pub endgames: f32,
    /// The maximum force of a random endgame; in tammi it is at most 5.
    pub endgame_force: u32,
    /// Lambda of TD(lambda): 1 learns the results of games, 0 what search expected.
    pub lambda: f32,
}

impl SelfPlaySettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 7] = [
        ("games", Bounds::Whole(PARALLEL_GAMES)),
        ("simulations", Bounds::whole(1, 1 << 16)),
        ("least_range", Bounds::SHARE),
        ("max_random_plies", Bounds::Whole(RANDOM_PLIES)),
        ("endgames", Bounds::SHARE),
        ("endgame_force", Bounds::whole(LEAST_FORCE as u64, MOST_FORCE as u64)),
        ("lambda", Bounds::SHARE),
    ];
}

/// The resolution of a share of games.
const PARTS: u32 = 1 << 24;

/// A game as self-play plays it.
#[derive(Clone)]
pub(super) struct Rules<G: Game> {
    pub(super) game: G,
    pub(super) settings: SelfPlaySettings, // `root` with its `least_range`
    /// The generator of random endgames, if some games start from one and the game has them.
    pub(super) endgames: Option<RandomEndgames<G::Position>>,
}

impl<G: Game> Rules<G> {
    pub(super) fn new(game: &G, settings: &SelfPlaySettings) -> Rules<G>
    where
        G: HasEndgames,
    {
        let mut settings = *settings;
        if let SearchRule::Gumbel(gumbel) = &mut settings.root {
            gumbel.least_range = settings.least_range;
        }
        let endgames = (settings.endgames > 0.0).then(|| game.random_endgames(settings.endgame_force));
        Rules { game: game.clone(), settings, endgames: endgames.flatten() }
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
