//! The games of this crate.

use std::path::Path;
use std::sync::Arc;

use jarmo_host::files::{SETTINGS_BYTES, read_text};

use super::{GameSettings, GameTask};
use crate::tables::{HasEndgames, RandomEndgames, ShuttleBounds, Solvable, Solver, Tables, draw_endgames, open_shared};
use crate::{ExactError, proof};
use jarmo_core::game::shorten;
use jarmo_core::games::board::{Board, DEFAULT_MAX_PLIES};
use jarmo_core::games::tammi::MAX_QUIET_LIMIT;
use jarmo_core::games::{ConnectFour, Guard, Jarmo, JarmoPosition, Scripted, Tammi, TammiPosition, tammi};
use jarmo_core::known::{Endgames, ProofStrategy};

/// The names of all games of this crate.
pub const GAMES: [&str; 4] = ["jarmo", "guard", "tammi", "connect_four"];

/// Runs `task` with the named game of this crate and these settings.
pub fn with_game<T: GameTask>(name: &str, settings: &GameSettings, task: T) -> Result<T::Output, ExactError> {
    if !GAMES.contains(&name) {
        return Err(ExactError::unknown_game(name, &GAMES));
    }
    settings.refuse_others(name, &settings.fitting(name))?;
    let limit = |default: u32| settings.max_plies.unwrap_or(default);
    Ok(match name {
        "jarmo" => task.run(Jarmo::new(board(settings)?, limit(DEFAULT_MAX_PLIES))),
        "guard" => task.run(Guard::new(board(settings)?, limit(DEFAULT_MAX_PLIES))),
        "tammi" => task.run(Tammi::new(quiet_limit(settings)?, limit(tammi::DEFAULT_MAX_PLIES))),
        _ => task.run(ConnectFour::new(limit(0))),
    })
}

impl HasEndgames for Jarmo {
    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Jarmo>>, ExactError> {
        Ok(open_shared(self, folder, || ShuttleBounds::open_any(self, folder))?)
    }

    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Jarmo>>>, ExactError> {
        Ok(Some(Arc::new(Tables::solve(self, Jarmo::TABLES.quick)?)))
    }

    fn proof(&self) -> Option<Arc<dyn ProofStrategy<Jarmo>>> {
        proof::of_board(self)
    }

    fn solver(&self) -> Option<&dyn Solver> {
        Some(self)
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
        Ok(open_shared(self, folder, || Ok(None))?)
    }

    fn quick_endgames(&self) -> Result<Option<Arc<dyn Endgames<Tammi>>>, ExactError> {
        Ok(Some(Arc::new(Tables::solve(self, Tammi::TABLES.quick)?)))
    }

    fn solver(&self) -> Option<&dyn Solver> {
        Some(self)
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

impl HasEndgames for Scripted {}

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
        Some(path) if let Some(seed) = path.to_str().and_then(|text| text.strip_prefix("random:")) => {
            match seed.parse() {
                Ok(seed) => Ok(Board::random(seed)),
                Err(_) => Err(ExactError::settings(format!(
                    "a random board is written as `random:SEED`, with a whole number below 2^64, not `random:{}`",
                    shorten(seed)
                ))),
            }
        }
        Some(path) => {
            let text = read_text(path, SETTINGS_BYTES).map_err(ExactError::settings);
            let board = text.and_then(|text| Board::from_toml(&text).map_err(ExactError::settings));
            board.map_err(|error| error.at(path))
        }
    }
}
