//! The games of this crate.

use jarmo_host::files::{SETTINGS_BYTES, read_text};

use super::{Catalog, GameSettings, GameTask, Listed, refuse};
use crate::ExactError;
use jarmo_core::games::board::Board;
use jarmo_core::games::tammi::MAX_QUIET_LIMIT;
use jarmo_core::games::{ConnectFour, Guard, Jarmo, Tammi, guard, jarmo, tammi};

/// The names of all games of this crate.
pub const GAMES: [&str; 4] = ["jarmo", "guard", "tammi", "connect_four"];

/// The games of this crate: those of [`GAMES`].
#[derive(Clone, Copy, Debug)]
pub struct Shipped;

/// Runs `task` with the named game of this crate and these settings.
pub fn with_game<T: GameTask>(name: &str, settings: &GameSettings, task: T) -> Result<T::Output, ExactError> {
    Shipped.with_game(name, settings, task)
}

impl Catalog for Shipped {
    fn games(&self) -> Vec<Listed> {
        jarmo_configs::GAMES.into_iter().map(|(name, training)| Listed { name, training }).collect()
    }

    fn find<T: GameTask>(
        &self,
        name: &str,
        settings: &GameSettings,
        task: T,
    ) -> Result<Result<T::Output, ExactError>, T> {
        Ok(match name {
            "jarmo" => jarmo_with(settings).map(|game| task.run(game)),
            "guard" => guard_with(settings).map(|game| task.run(game)),
            "tammi" => tammi_with(settings).map(|game| task.run(game)),
            "connect_four" => connect_four_with(settings).map(|game| task.run(game)),
            _ => return Err(task),
        })
    }
}

fn jarmo_with(settings: &GameSettings) -> Result<Jarmo, ExactError> {
    refuse("jarmo", "quiet limit", settings.quiet_limit.is_some())?;
    Ok(Jarmo::new(board(settings)?, settings.max_plies.unwrap_or(jarmo::DEFAULT_MAX_PLIES)))
}

fn guard_with(settings: &GameSettings) -> Result<Guard, ExactError> {
    refuse("guard", "quiet limit", settings.quiet_limit.is_some())?;
    Ok(Guard::new(board(settings)?, settings.max_plies.unwrap_or(guard::DEFAULT_MAX_PLIES)))
}

fn tammi_with(settings: &GameSettings) -> Result<Tammi, ExactError> {
    refuse("tammi", "board", settings.board.is_some())?;
    let quiet = settings.quiet_limit.unwrap_or(tammi::DEFAULT_QUIET_LIMIT);
    if !(1..=MAX_QUIET_LIMIT).contains(&quiet) {
        return Err(ExactError::settings(format!(
            "the quiet limit of tammi must be 1 to {MAX_QUIET_LIMIT} plies, not {quiet}"
        )));
    }
    Ok(Tammi::new(quiet, settings.max_plies.unwrap_or(tammi::DEFAULT_MAX_PLIES)))
}

fn connect_four_with(settings: &GameSettings) -> Result<ConnectFour, ExactError> {
    const NO_LIMIT: u32 = 0;
    refuse("connect_four", "board", settings.board.is_some())?;
    refuse("connect_four", "quiet limit", settings.quiet_limit.is_some())?;
    Ok(ConnectFour::new(settings.max_plies.unwrap_or(NO_LIMIT)))
}

fn board(settings: &GameSettings) -> Result<Board, ExactError> {
    match &settings.board {
        None => Ok(Board::standard()),
        Some(path) => {
            let text = read_text(path, SETTINGS_BYTES).map_err(ExactError::settings);
            let board = text.and_then(|text| Board::from_toml(&text).map_err(ExactError::settings));
            board.map_err(|error| error.at(path))
        }
    }
}
