//! Every game by name, and how code that is generic over games is run for the one that was named.

use std::fmt;
use std::path::PathBuf;

use crate::encode::Encode;
use crate::game::shorten;
use crate::games::board::Board;
use crate::games::tammi::MOST_QUIET_LIMIT;
use crate::games::{ConnectFour, Guard, Jarmo, Tammi, guard, jarmo, tammi};
use crate::search::HasHeuristic;
use crate::tables::HasEndgames;
use crate::view::GameView;

/// What every game of the catalog can do.
pub trait CatalogGame: GameView + Encode + HasHeuristic + HasEndgames {}

impl<G: GameView + Encode + HasHeuristic + HasEndgames> CatalogGame for G {}

/// Settings of the rules, as far as the named game has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameSettings {
    /// Another board than the standard one, from a file.
    pub board: Option<PathBuf>,
    /// Another limit on the length of a game than its default; 0 for none.
    pub max_plies: Option<u32>,
    /// Another number of plies without a capture after which tammi is drawn.
    pub quiet_limit: Option<u32>,
}

impl GameSettings {
    /// Those of these settings that the named game has.
    pub fn fitting(&self, name: &str) -> GameSettings {
        let has_web = matches!(name, "jarmo" | "guard");
        GameSettings {
            board: self.board.clone().filter(|_| has_web),
            max_plies: self.max_plies,
            quiet_limit: self.quiet_limit.filter(|_| name == "tammi"),
        }
    }

    /// What was set for one game as far as it means something for another one, which has its own
    /// limit on the length.
    pub fn for_another(&self, from: &str, to: &str) -> GameSettings {
        let settings = self.fitting(to);
        GameSettings {
            max_plies: settings.max_plies.filter(|_| from == to),
            ..settings
        }
    }
}

/// Something to do with a game, whichever it is.
pub trait GameTask {
    /// What comes out.
    type Output;

    /// Does it.
    fn run<G: CatalogGame>(self, game: G) -> Self::Output;
}

/// The names of all games.
pub const GAMES: [&str; 4] = ["jarmo", "guard", "tammi", "connect_four"];

/// A game that is not there, or settings it does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameError(String);

impl fmt::Display for GameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for GameError {}

/// Runs `task` with the named game under these settings.
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
            if !(1..=MOST_QUIET_LIMIT).contains(&quiet) {
                return Err(GameError(format!(
                    "tammi's quiet limit is 1 to {MOST_QUIET_LIMIT} plies, not {quiet}"
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
            "no game is called `{}`; there are {}",
            shorten(name),
            GAMES.join(", ")
        ))),
    }
}

/// An error if a setting was given to a game that has no such thing.
fn refuse(name: &str, setting: &str, given: bool) -> Result<(), GameError> {
    if given {
        return Err(GameError(format!("{name} has no {setting} to set")));
    }
    Ok(())
}

fn board(settings: &GameSettings) -> Result<Board, GameError> {
    match &settings.board {
        None => Ok(Board::standard()),
        Some(path) => Board::load(path).map_err(|error| GameError(error.to_string())),
    }
}
