//! How self-play plays.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Root;
use crate::tables::index::{LEAST_FORCE, MOST_FORCE};
use crate::tables::{Endgames, HasEndgames, RandomEndgames};

/// Settings of self-play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlaySettings {
    /// Games under way at the same time.
    pub games: usize,
    /// Simulations for each action.
    pub simulations: u32,
    /// How the simulations are shared out.
    pub root: Root,
    /// The range of values that weighs in full at a Gumbel root and below it, where they lie closer together:
    /// small differences are mostly chance. 0 scales up whatever difference there is.
    pub least_range: f32,
    /// The most random actions that a game starts with; how many is drawn for each game.
    pub opening_plies: u32,
    /// A directory of exact tables; empty for none. Every position learns the exact result of the next
    /// one, itself included, that they know.
    pub tables: PathBuf,
    /// The share of games that start from a random endgame, where the game knows any.
    pub endgames: f32,
    /// The most archers and marks of such an endgame, both players' together.
    pub endgame_force: u32,
    /// How much of what a position is to be worth, in the end the result of the game, goes on to the
    /// position before. The rest is what search expected there.
    pub lambda: f32,
}

/// Settings that make no sense, and what would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelfPlayError(String);

impl SelfPlayError {
    pub(super) fn new(problem: String) -> SelfPlayError {
        SelfPlayError(problem)
    }
}

const MOST_GAMES: usize = 1 << 20;
const MOST_SIMULATIONS: u32 = 1 << 16;

impl SelfPlaySettings {
    /// Refuses settings with which nothing can be played.
    pub fn validate(&self) -> Result<(), SelfPlayError> {
        let simulations = MOST_SIMULATIONS as usize;
        for (name, number, least, most) in [
            ("games", self.games, 1, MOST_GAMES),
            ("simulations", self.simulations as usize, 1, simulations),
            ("opening_plies", self.opening_plies as usize, 0, 1000),
            (
                "endgame_force",
                self.endgame_force as usize,
                LEAST_FORCE as usize,
                MOST_FORCE as usize,
            ),
        ] {
            if number < least || number > most {
                return Err(SelfPlayError(format!(
                    "selfplay.{name} = {number}: it must be from {least} to {most}"
                )));
            }
        }
        for (name, number) in [
            ("endgames", self.endgames),
            ("lambda", self.lambda),
            ("least_range", self.least_range),
        ] {
            if !(0.0..=1.0).contains(&number) {
                return Err(SelfPlayError(format!(
                    "selfplay.{name} = {number}: it must be from 0 to 1"
                )));
            }
        }
        Ok(())
    }

    /// What draws endgames for games to start from, if they are set and the game knows any.
    pub fn random_endgames<G: HasEndgames>(&self, game: &G) -> Option<RandomEndgames<G::Position>> {
        (self.endgames > 0.0)
            .then(|| game.random_endgames(self.endgame_force))
            .flatten()
    }

    /// The exact tables, if any are set: all threads share them.
    pub fn open_tables<G: HasEndgames>(
        &self,
        game: &G,
    ) -> Result<Option<Arc<dyn Endgames<G>>>, SelfPlayError> {
        if self.tables.as_os_str().is_empty() {
            return Ok(None);
        }
        let opened = game.open_endgames(&self.tables);
        let folder = self.tables.display();
        opened
            .map(Some)
            .map_err(|error| SelfPlayError(format!("selfplay.tables = {folder}: {error}")))
    }
}
