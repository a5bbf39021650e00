//! The games of this crate.

use std::path::Path;
use std::sync::Arc;

use jarmo_host::files::{SETTINGS_BYTES, read_text};

use super::{Catalog, Found, GameSettings, GameTask, Listed};
use crate::tables::{HasEndgames, RandomEndgames, Solvable, Tables, draw_endgames, open_shared};
use crate::{ExactError, proof};
use jarmo_core::games::board::{Board, DEFAULT_MAX_PLIES};
use jarmo_core::games::tammi::MAX_QUIET_LIMIT;
use jarmo_core::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Tammi, TammiPosition, tammi};
use jarmo_core::known::{Endgames, Guide};

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

    fn find<T: GameTask>(&self, name: &str, settings: &GameSettings, task: T) -> Found<T> {
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

impl HasEndgames for Jarmo {
    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Jarmo>>, ExactError> {
        Ok(open_shared(self, folder)?)
    }

    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Jarmo>>>, ExactError> {
        Ok(Some(Arc::new(Tables::solve(self, 6)?)))
    }

    fn proof(&self) -> Option<Arc<dyn Guide<Jarmo>>> {
        proof::of_board(self)
    }

    fn force_of(&self, position: &JarmoPosition) -> Option<u32> {
        Some(position.force())
    }

    fn random_endgames(&self, force: u32) -> Option<RandomEndgames<JarmoPosition>> {
        Some(draw_endgames::<Jarmo>(force))
    }
}

impl HasEndgames for Tammi {
    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Tammi>>, ExactError> {
        Ok(open_shared(self, folder)?)
    }

    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Tammi>>>, ExactError> {
        Ok(Some(Arc::new(Tables::solve(self, 4)?)))
    }

    fn force_of(&self, position: &TammiPosition) -> Option<u32> {
        Some(<Tammi as Solvable>::force(position))
    }

    fn random_endgames(&self, force: u32) -> Option<RandomEndgames<TammiPosition>> {
        Some(draw_endgames::<Tammi>(force))
    }
}

impl HasEndgames for Guard {}

impl HasEndgames for ConnectFour {}

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
