//! The games by name, and the way to run generic code for the game with a given name.

use std::path::PathBuf;

use crate::encode::Encode;
use crate::game::shorten;
use crate::games::board::Board;
use crate::games::tammi::MAX_QUIET_LIMIT;
use crate::games::{ConnectFour, Guard, Jarmo, Tammi, guard, jarmo, tammi};
use crate::proof::HasProof;
use crate::search::HasHeuristic;
use crate::tables::HasEndgames;
use crate::view::GameView;

/// The traits that every game of the catalog implements.
pub trait CatalogGame: GameView + Encode + HasHeuristic + HasEndgames + HasProof {}

impl<G: GameView + Encode + HasHeuristic + HasEndgames + HasProof> CatalogGame for G {}

/// Settings of the rules. Not every game has all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameSettings {
    /// A board file to use instead of the standard board.
    pub board: Option<PathBuf>,
    /// The limit on the length of a game in plies, 0 for none; unset means the default of the game.
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

    /// The settings of game `from` that carry over to game `to`. The limit on the length carries over only to
    /// the same game.
    pub fn for_another(&self, from: &str, to: &str) -> GameSettings {
        let settings = self.fitting(to);
        GameSettings {
            max_plies: settings.max_plies.filter(|_| from == to),
            ..settings
        }
    }
}

/// A task that is generic over games.
pub trait GameTask {
    /// The result of the task.
    type Output;

    /// Runs the task with this game.
    fn run<G: CatalogGame>(self, game: G) -> Self::Output;
}

/// The names of all games.
pub const GAMES: [&str; 4] = ["jarmo", "guard", "tammi", "connect_four"];

/// An unknown game, or settings that do not fit the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GameError(String);

/// Runs `task` with the named game and these settings.
pub fn with_game<T: GameTask>(
    name: &str,
    settings: &GameSettings,
    task: T,
) -> Result<T::Output, GameError> {
    let max_plies = |default: u32| settings.max_plies.unwrap_or(default);
    match name {
        "jarmo" => {
            refuse(name, "quiet limit", settings.quiet_limit.is_some())?;
            let limit = max_plies(jarmo::DEFAULT_MAX_PLIES);
            Ok(task.run(Jarmo::new(board(settings)?, limit)))
        }
        "guard" => {
            refuse(name, "quiet limit", settings.quiet_limit.is_some())?;
            let limit = max_plies(guard::DEFAULT_MAX_PLIES);
            Ok(task.run(Guard::new(board(settings)?, limit)))
        }
        "tammi" => {
            refuse(name, "board", settings.board.is_some())?;
            let quiet = settings.quiet_limit.unwrap_or(tammi::DEFAULT_QUIET_LIMIT);
            if !(1..=MAX_QUIET_LIMIT).contains(&quiet) {
                return Err(GameError(format!(
                    "the quiet limit of tammi must be 1 to {MAX_QUIET_LIMIT} plies, not {quiet}"
                )));
            }
            Ok(task.run(Tammi::new(quiet, max_plies(tammi::DEFAULT_MAX_PLIES))))
        }
        "connect_four" => {
            refuse(name, "board", settings.board.is_some())?;
            refuse(name, "quiet limit", settings.quiet_limit.is_some())?;
            const NO_LIMIT: u32 = 0;
            Ok(task.run(ConnectFour::new(max_plies(NO_LIMIT))))
        }
        _ => Err(GameError(format!(
            "unknown game `{}`; choose one of {}",
            shorten(name),
            GAMES.join(", ")
        ))),
    }
}

/// Refuses a setting that the game does not have.
fn refuse(name: &str, setting: &str, given: bool) -> Result<(), GameError> {
    if given {
        return Err(GameError(format!("{name} has no {setting}")));
    }
    Ok(())
}

fn board(settings: &GameSettings) -> Result<Board, GameError> {
    match &settings.board {
        None => Ok(Board::standard()),
        Some(path) => Board::load(path).map_err(|error| GameError(error.to_string())),
    }
}
