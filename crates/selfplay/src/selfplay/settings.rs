//! Settings of self-play.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Root;
use jarmo_exact::tables::{Endgames, HasEndgames, RandomEndgames};

/// Settings of self-play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlaySettings {
    /// Games in parallel.
    pub games: usize,
    /// Simulations per action.
    pub simulations: u32,
    /// The search rule at the root.
    pub root: Root,
    /// For Gumbel search: if all values at a node span less than this, their influence shrinks in
    /// proportion, because small differences are mostly noise. 0 always rescales to the full range.
    pub least_range: f32,
    /// A game starts with 0 to this many random actions.
    pub opening_plies: u32,
    /// A directory of exact tables; empty for none. Exact outcomes replace the results of games.
    pub tables: PathBuf,
    /// The share of games that start from a random endgame, if the game has them.
    pub endgames: f32,
    /// The maximum force of a random endgame.
    pub endgame_force: u32,
    /// Lambda of TD(lambda): 1 learns the results of games, 0 what search expected.
    pub lambda: f32,
}

/// Self-play settings or saved games that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelfPlayError(String);

impl SelfPlayError {
    pub(super) fn new(problem: String) -> SelfPlayError {
        SelfPlayError(problem)
    }
}

impl SelfPlaySettings {
    /// The generator of random endgames, if they are enabled and the game has them.
    pub fn random_endgames<G: HasEndgames>(&self, game: &G) -> Option<RandomEndgames<G::Position>> {
        (self.endgames > 0.0)
            .then(|| game.random_endgames(self.endgame_force))
            .flatten()
    }

    /// Opens the exact tables, if any are set. All threads share them.
    pub fn open_tables<G: HasEndgames>(
        &self,
        game: &G,
    ) -> Result<Option<Arc<dyn Endgames<G>>>, SelfPlayError> {
        if self.tables.as_os_str().is_empty() {
            return Ok(None);
        }
        let opened = game.open_endgames(&self.tables);
        let wrong = |problem: &dyn Display| {
            SelfPlayError(format!(
                "selfplay.tables = {}: {problem}",
                self.tables.display()
            ))
        };
        let tables = opened.map_err(|error| wrong(&error))?;
        if !tables.has_endings() {
            return Err(wrong(
                &"packed results have no distances, which self-play needs to end a game; give it tables",
            ));
        }
        Ok(Some(tables))
    }
}
