//! How the games of an environment begin and end, and who plays the other side.

use serde::{Deserialize, Serialize};

use crate::game::{Action, Game};
use crate::random::Stream;

/// When the next game begins in a slot whose game has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autoreset {
    /// In the next step. It ignores the action for this slot.
    NextStep,
    /// In the step in which the last game ended.
    #[default]
    SameStep,
    /// Only when the caller resets the slot.
    Disabled,
}

/// The side of the caller in games against an opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seat {
    /// White in all games.
    #[default]
    White,
    /// Black in all games.
    Black,
    /// Drawn at random for each game.
    Random,
}

/// What an environment records in addition to positions. Each item costs some time in every step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The start position and actions of every unfinished game.
    pub history: bool,
    /// The counts of events, see [`Game::events`].
    pub events: bool,
}

/// How the games of an environment begin and end.
#[derive(Clone, Copy, Debug)]
pub struct EnvSettings {
    /// The number of games, and of slots.
    pub games: usize,
    /// The seed from which all random numbers are derived.
    pub seed: u64,
    /// The largest number of shards. One thread steps each of them. Results do not depend on their number.
    pub threads: usize,
    /// When the next game begins in a slot whose game has ended.
    pub autoreset: Autoreset,
    /// The side of the caller in games against an opponent.
    pub seat: Seat,
    /// The number of random plies at the start of each game.
    pub random_plies: u32,
    /// What is recorded in addition to positions.
    pub keep: Keep,
}

impl EnvSettings {
    /// Games from the start position, with as many shards as the current rayon pool has threads.
    pub fn new(games: usize, seed: u64) -> EnvSettings {
        EnvSettings {
            games,
            seed,
            threads: rayon::current_num_threads(),
            autoreset: Autoreset::default(),
            seat: Seat::default(),
            random_plies: 0,
            keep: Keep::default(),
        }
    }
}

/// Plays the side that the caller does not play, in the games of one shard.
pub trait Opponent<G: Game>: Send + Sync {
    /// The name that saved environments contain.
    fn name(&self) -> String;

    /// Returns an action for each position. Each action must depend only on its position and random stream. `None` if
    /// the opponent was interrupted.
    fn choose(&mut self, positions: &[G::Position], streams: &mut [Stream]) -> Option<Vec<Action>>;

    /// Whether `choose` can return `None`. If so, each step first copies the games, which costs time.
    fn can_be_interrupted(&self) -> bool {
        false
    }
}

/// An opponent was interrupted. The environment is as it was before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an opponent was interrupted")]
pub struct Interrupted;
