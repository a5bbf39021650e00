//! The games of this crate by name, as types, with their agents, exams and tables.
//!
//! [`with_game`] runs code that is generic over games with the game of a name. Only tests and the crate `jarmo-facade`
//! need it. Programs use that crate, in which a game has no type parameter.

mod shipped;

use std::path::PathBuf;

pub use shipped::{GAMES, with_game};

use crate::ExactError;
use crate::tables::HasEndgames;
use jarmo_core::encode::Encode;
use jarmo_core::search::HasHeuristic;
use jarmo_core::view::GameView;

/// The traits that every game of a program implements. All methods but those of [`Game`](jarmo_core::game::Game) and
/// [`Encode`] have defaults.
pub trait CatalogGame: GameView + Encode + HasHeuristic + HasEndgames {}

impl<G: GameView + Encode + HasHeuristic + HasEndgames> CatalogGame for G {}

/// Settings of the rules. Not every game has all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameSettings {
    /// A board file to use instead of the standard board.
    pub board: Option<PathBuf>,
    /// The move limit in plies, 0 for none; unset means the default of the game.
    pub max_plies: Option<u32>,
    /// The number of plies without a capture after which tammi is drawn; unset means the default.
    pub quiet_limit: Option<u32>,
}

impl GameSettings {
    /// These settings without those that the named game does not have.
    pub fn fitting(&self, name: &str) -> GameSettings {
        let has_board = matches!(name, "jarmo" | "guard");
        GameSettings {
            board: self.board.clone().filter(|_| has_board),
            max_plies: self.max_plies,
            quiet_limit: self.quiet_limit.filter(|_| name == "tammi"),
        }
    }

    /// Fails if there are settings that the game does not have.
    pub fn refuse_others(&self, name: &str, fitting: &GameSettings) -> Result<(), ExactError> {
        let other = match (self.board == fitting.board, self.quiet_limit == fitting.quiet_limit) {
            (true, true) => return Ok(()),
            (false, _) => "board",
            (true, false) => "quiet limit",
        };
        Err(ExactError::settings(format!("{name} has no {other}")))
    }

    /// The settings of game `from` that carry over to game `to`. The move limit carries over only to the same
    /// game.
    pub fn for_another(&self, from: &str, to: &str) -> GameSettings {
        let settings = self.fitting(to);
        GameSettings { max_plies: settings.max_plies.filter(|_| from == to), ..settings }
    }
}

/// A task that is generic over games.
pub trait GameTask {
    /// The result of the task.
    type Output;

    /// Runs the task with this game.
    fn run<G: CatalogGame>(self, game: G) -> Self::Output;
}
