//! The levels that people choose from: which agent plays at each, and its rating.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use jarmo_exact::agent::TreeSpec;

/// Named strengths, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Plays random legal moves.
    Newcomer,
    /// Knows little.
    Beginner,
    /// The level at the first visit.
    Easy,
    /// Sees most captures.
    Casual,
    /// Makes a mistake now and then.
    Medium,
    /// Plays by the network with few mistakes.
    Hard,
    /// Plays the network's choice as it is, or with a small search.
    Expert,
    /// Searches for the full time per move.
    Best,
}

impl Level {
    /// All levels, weakest first.
    pub const ALL: [Level; 8] = [
        Level::Newcomer,
        Level::Beginner,
        Level::Easy,
        Level::Casual,
        Level::Medium,
        Level::Hard,
        Level::Expert,
        Level::Best,
    ];

    /// The default level.
    pub const USUAL: Level = Level::Easy;

    /// The name on the command line and in the browser's messages.
    pub const fn name(self) -> &'static str {
        ["newcomer", "beginner", "easy", "casual", "medium", "hard", "expert", "best"][self as usize]
    }

    /// The level with this name.
    pub fn parse(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Its rating in a game with the built-in trained agent, where random moves have 0. `None` if it was not measured.
    pub fn rating(self, game: &str) -> Option<u16> {
        Some(LADDERS.get(game)?.get(&self)?.rating)
    }

    /// The settings with which the trained agent of a game plays at this level; those of jarmo for a game whose levels
    /// were not measured. `None` for the levels that play otherwise: random moves, and the search by time.
    pub fn settings(self, game: &str) -> Option<TreeSpec> {
        LADDERS.get(game).unwrap_or(&LADDERS["jarmo"]).get(&self)?.agent.clone()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rung {
    rating: u16,
    agent: Option<TreeSpec>,
}

/// The measured levels of each game.
static LADDERS: LazyLock<HashMap<String, HashMap<Level, Rung>>> =
    LazyLock::new(|| toml::from_str(include_str!("levels.toml")).expect("a test reads it"));
