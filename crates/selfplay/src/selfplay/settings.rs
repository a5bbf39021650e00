//! Settings of self-play.

use serde::{Deserialize, Serialize};

use jarmo_core::numbers::{Bounds, PARALLEL_GAMES, RANDOM_PLIES};
use jarmo_core::search::{GumbelSettings, SearchRule};
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

    /// The search rule with its settings.
    pub(super) fn rule(&self) -> SearchRule {
        match self.root {
            SearchRule::Gumbel(settings) => {
                SearchRule::Gumbel(GumbelSettings { least_range: self.least_range, ..settings })
            }
            rule => rule,
        }
    }

    /// The generator of random endgames, if they are enabled and the game has them.
    pub fn random_endgames<G: HasEndgames>(&self, game: &G) -> Option<RandomEndgames<G::Position>> {
        (self.endgames > 0.0).then(|| game.random_endgames(self.endgame_force)).flatten()
    }
}
