//! The games of this crate.

use jarmo_host::files::{SETTINGS_BYTES, read_text};

use super::{Catalog, GameSettings, GameTask, Listed};
use crate::ExactError;
use jarmo_core::games::board::{Board, DEFAULT_MAX_PLIES};
use jarmo_core::games::tammi::MAX_QUIET_LIMIT;
use jarmo_core::games::{ConnectFour, Guard, Jarmo, Tammi, tammi};

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
        let checked = settings.refuse_others(name, &settings.fitting(name));
        let board = || checked.clone().and_then(|()| board(settings));
        let limit = |default: u32| settings.max_plies.unwrap_or(default);
        Ok(match name {
            "jarmo" => board().map(|board| task.run(Jarmo::new(board, limit(DEFAULT_MAX_PLIES)))),
            "guard" => board().map(|board| task.run(Guard::new(board, limit(DEFAULT_MAX_PLIES)))),
            "tammi" => checked
                .and_then(|()| quiet_limit(settings))
                .map(|quiet| task.run(Tammi::new(quiet, limit(tammi::DEFAULT_MAX_PLIES)))),
            "connect_four" => checked.map(|()| task.run(ConnectFour::new(limit(0)))),
            _ => return Err(task),
        })
    }
}

fn quiet_limit(settings: &GameSettings) -> Result<u32, ExactError> {
    let quiet = settings.quiet_limit.unwrap_or(tammi::DEFAULT_QUIET_LIMIT);
    if (1..=MAX_QUIET_LIMIT).contains(&quiet) {
        return Ok(quiet);
    }
    Err(ExactError::settings(format!("the quiet limit of tammi must be 1 to {MAX_QUIET_LIMIT} plies, not {quiet}")))
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
