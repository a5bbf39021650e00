//! Every game by name, and how code that is generic over games is run for the one that was named.

use std::path::PathBuf;

use crate::board::BoardView;
use crate::encode::Encode;
use crate::game::shorten;
use crate::games::tammi::MOST_QUIET_LIMIT;
use crate::games::web::Web;
use crate::games::{ConnectFour, Guard, Jarmo, Tammi, guard, jarmo, tammi};
use crate::search::Judged;
use crate::tables::HasEndgames;

/// What every game of the catalog can do.
pub trait CatalogGame: BoardView + Encode + Judged + HasEndgames {}

impl<G: BoardView + Encode + Judged + HasEndgames> CatalogGame for G {}

/// Settings of the rules, as far as the named game has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameSettings {
    /// Another web than the standard one, from a file.
    pub web: Option<PathBuf>,
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
            web: self.web.clone().filter(|_| has_web),
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GameError(String);

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
            Ok(task.run(Jarmo::new(web(settings)?, limit)))
        }
        "guard" => {
            refuse(name, "quiet limit", settings.quiet_limit.is_some())?;
            let limit = max_plies(guard::DEFAULT_MAX_PLIES);
            Ok(task.run(Guard::new(web(settings)?, limit)))
        }
        "tammi" => {
            refuse(name, "web", settings.web.is_some())?;
            let quiet = settings.quiet_limit.unwrap_or(tammi::DEFAULT_QUIET_LIMIT);
            if !(1..=MOST_QUIET_LIMIT).contains(&quiet) {
                return Err(GameError(format!(
                    "tammi's quiet limit is 1 to {MOST_QUIET_LIMIT} plies, not {quiet}"
                )));
            }
            Ok(task.run(Tammi::new(quiet, max_plies(tammi::DEFAULT_MAX_PLIES))))
        }
        "connect_four" => {
            refuse(name, "web", settings.web.is_some())?;
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

fn web(settings: &GameSettings) -> Result<Web, GameError> {
    match &settings.web {
        None => Ok(Web::standard()),
        Some(path) => Web::load(path).map_err(|error| GameError(error.to_string())),
    }
}
