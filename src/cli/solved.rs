//! The game that has exact tables.

use std::path::PathBuf;

use super::Failure;
use crate::game::shorten;
use crate::games::Jarmo;
use crate::games::board::Board;
use crate::games::jarmo::DEFAULT_MAX_PLIES;
use crate::tables::EndgameError;

/// A game with exact tables and the settings of its rules.
#[derive(clap::Args)]
pub(super) struct SolvedGameArgs {
    /// The game: jarmo, the only one with exact tables
    #[arg(long, default_value = "jarmo", value_name = "NAME")]
    game: String,
    /// A board file with other lines than the standard board
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
}

impl SolvedGameArgs {
    /// Jarmo on the given board. Other games are refused.
    pub(super) fn jarmo(&self) -> Result<Jarmo, Failure> {
        jarmo_on(Some(&self.game), self.board.clone())
    }
}

/// Jarmo on the given board. A named game must be jarmo.
pub(super) fn jarmo_on(game: Option<&str>, board: Option<PathBuf>) -> Result<Jarmo, Failure> {
    if let Some(other) = game.filter(|&name| name != "jarmo") {
        return Err(Failure::usage(EndgameError::NoTables(shorten(other))));
    }
    let board = match board {
        None => Board::standard(),
        Some(path) => Board::load(&path).map_err(Failure::usage)?,
    };
    Ok(Jarmo::new(board, DEFAULT_MAX_PLIES))
}
