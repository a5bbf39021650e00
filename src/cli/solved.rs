//! The game that has exact tables.

use std::path::PathBuf;

use super::Failure;
use jarmo::catalog::{CatalogGame, GameSettings, GameTask, with_game};
use jarmo::games::Jarmo;
use jarmo::tables::EndgameError;

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
        jarmo_on(&self.game, self.board.clone())
    }
}

/// The named game on the given board, if it is jarmo. Other games are refused.
pub(super) fn jarmo_on(game: &str, board: Option<PathBuf>) -> Result<Jarmo, Failure> {
    let settings = GameSettings {
        board,
        ..GameSettings::default()
    };
    with_game(game, &settings, IsJarmo)?.map_err(Failure::usage)
}

struct IsJarmo;

impl GameTask for IsJarmo {
    type Output = Result<Jarmo, EndgameError>;

    fn run<G: CatalogGame>(self, game: G) -> Result<Jarmo, EndgameError> {
        let any: &dyn std::any::Any = &game;
        let jarmo = any.downcast_ref();
        jarmo.cloned().ok_or(EndgameError::NoTables(game.id()))
    }
}
