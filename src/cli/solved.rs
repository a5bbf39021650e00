//! The game that has exact tables.

use std::path::PathBuf;

use super::Failure;
use crate::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use crate::games::Jarmo;
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
    pub(super) fn jarmo<C: Catalog>(&self, games: &C) -> Result<Jarmo, Failure> {
        jarmo_on(games, &self.game, self.board.clone())
    }
}

/// The named game on the given board, if it is jarmo. Other games are refused.
pub(super) fn jarmo_on<C: Catalog>(
    games: &C,
    game: &str,
    board: Option<PathBuf>,
) -> Result<Jarmo, Failure> {
    let settings = GameSettings {
        board,
        ..GameSettings::default()
    };
    let jarmo = games.with_game(game, &settings, IsJarmo)?;
    jarmo.map_err(Failure::usage)
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
