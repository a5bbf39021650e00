//! The games that have exact tables.

use std::any::Any;
use std::path::PathBuf;

use super::Failure;
use jarmo_core::games::{Jarmo, Tammi};
use jarmo_core::numbers::QUIET_LIMIT;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_exact::tables::{EndgameError, Solvable};
use jarmo_judge::accuracy::HasExam;

/// A game with exact tables and the settings of its rules.
#[derive(clap::Args)]
pub(super) struct SolvedGameArgs {
    /// The game: jarmo or tammi
    #[arg(long, default_value = "jarmo", value_name = "NAME")]
    game: String,
    /// A board file with other lines than the standard board (jarmo)
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
}

/// Jarmo and the settings of its rules, for commands that know no other game.
#[derive(clap::Args)]
pub(super) struct JarmoArgs {
    /// The game: jarmo, the only one that this command knows
    #[arg(long, default_value = "jarmo", value_name = "NAME")]
    game: String,
    /// A board file with other lines than the standard board
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
}

impl JarmoArgs {
    /// Jarmo on the given board. Other games are refused.
    pub(super) fn jarmo<C: Catalog>(&self, games: &C) -> Result<Jarmo, Failure> {
        let settings = GameSettings {
            board: self.board.clone(),
            ..GameSettings::default()
        };
        let jarmo = games.with_game(&self.game, &settings, IsJarmo)?;
        jarmo.ok_or_else(|| {
            let problem = "this command is for jarmo only, not for";
            Failure::usage(format!("{problem} {}", self.game))
        })
    }
}

struct IsJarmo;

impl GameTask for IsJarmo {
    type Output = Option<Jarmo>;

    fn run<G: CatalogGame>(self, game: G) -> Option<Jarmo> {
        let any: &dyn Any = &game;
        any.downcast_ref().cloned()
    }
}

/// A task that is generic over the games with exact tables.
pub(super) trait SolvedTask {
    /// The result of the task.
    type Output;

    /// Runs the task with this game.
    fn run<G: CatalogGame + Solvable + HasExam>(self, game: G) -> Self::Output;
}

impl SolvedGameArgs {
    /// Runs a task with this game. Games without tables are refused.
    pub(super) fn run<C: Catalog, T: SolvedTask>(
        &self,
        games: &C,
        task: T,
    ) -> Result<T::Output, Failure> {
        let settings = GameSettings {
            board: self.board.clone(),
            quiet_limit: self.quiet_limit,
            max_plies: None,
        };
        with_solved(games, &self.game, &settings, task)
    }
}

/// Runs a task with the named game. Games without tables are refused.
pub(super) fn with_solved<C: Catalog, T: SolvedTask>(
    games: &C,
    name: &str,
    settings: &GameSettings,
    task: T,
) -> Result<T::Output, Failure> {
    let output = games.with_game(name, settings, IfSolved(task))?;
    output.map_err(Failure::usage)
}

struct IfSolved<T>(T);

impl<T: SolvedTask> GameTask for IfSolved<T> {
    type Output = Result<T::Output, EndgameError>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let any: &dyn Any = &game;
        if let Some(jarmo) = any.downcast_ref::<Jarmo>() {
            Ok(self.0.run(jarmo.clone()))
        } else if let Some(tammi) = any.downcast_ref::<Tammi>() {
            Ok(self.0.run(tammi.clone()))
        } else {
            Err(EndgameError::NoTables(game.id()))
        }
    }
}
