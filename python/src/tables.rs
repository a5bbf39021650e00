//! `jarmo.Tables`: exact results of endgames.

use std::path::PathBuf;
use std::sync::Arc;

use jarmo_core::game::{Mask, Proven};
use jarmo_exact::catalog::CatalogGame;
use jarmo_exact::tables::Endgames;
use pyo3::prelude::*;

use crate::array::column;
use crate::game::{PyGame, Rules};
use crate::position::{Position, positions_of};

/// The plies of a result that has none.
pub(crate) const NO_PLIES: i32 = -1;

/// Tables of a game whose type is not known.
pub trait AnyTables: Send + Sync {
    /// The results of positions for the player to move.
    fn known(&self, positions: &[Position]) -> Vec<Option<Proven>>;
    /// The results of the legal actions of a position for the player who acts; `None` if it is not known.
    fn actions(&self, position: &Position) -> Option<Vec<(u16, Proven)>>;
}

pub(crate) struct Opened<G: CatalogGame> {
    pub(crate) rules: Arc<Rules<G>>,
    pub(crate) tables: Arc<dyn Endgames<G>>,
}

impl<G: CatalogGame> AnyTables for Opened<G> {
    fn known(&self, positions: &[Position]) -> Vec<Option<Proven>> {
        let game = &self.rules.game;
        let positions: Vec<G::Position> = positions.iter().map(|one| one.own::<G>()).collect();
        let open = positions.iter().filter(|one| game.outcome(one).is_none());
        let open: Vec<_> = open.copied().collect();
        let mut found = Vec::new();
        self.tables.known_all(game, &open, &mut found);
        let mut found = found.into_iter();
        let result = |position: &G::Position| match game.outcome(position) {
            Some(outcome) => Some(Proven::over(outcome.verdict(game.to_move(position)))),
            None => found.next().expect("one result per open position"),
        };
        positions.iter().map(result).collect()
    }

    fn actions(&self, position: &Position) -> Option<Vec<(u16, Proven)>> {
        let game = &self.rules.game;
        let position = position.own::<G>();
        if game.outcome(&position).is_some() {
            return Some(Vec::new());
        }
        self.tables.known(game, &position)?;
        let legal = game.legal(&position);
        let after = |action| self.tables.after(game, &position, action);
        Some(legal.iter().map(|action| (action.0, after(action))).collect())
    }
}

/// Exact tables of endgames, as ``jarmo tables build`` writes them (jarmo and tammi).
#[pyclass(frozen, module = "jarmo")]
pub struct Tables {
    #[pyo3(get)]
    game: PyGame,
    folder: PathBuf,
    tables: Box<dyn AnyTables>,
}

pub(crate) fn plies(proven: &Proven) -> i32 {
    proven.plies.map_or(NO_PLIES, |plies| i32::try_from(plies).unwrap_or(i32::MAX))
}

#[pymethods]
impl Tables {
    #[new]
    #[pyo3(signature = (folder, *, game=PyGame::standard()), text_signature = "(folder, *, game='jarmo')")]
    fn new(py: Python<'_>, folder: PathBuf, game: PyGame) -> PyResult<Tables> {
        let tables = py.detach(|| game.0.clone().tables(&folder))?;
        Ok(Tables { tables, game, folder })
    }

    /// The results of ``N`` positions.
    fn lookup<'py>(&self, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = positions.py();
        let positions = positions_of(positions, Some(&*self.game.0))?;
        let found = py.detach(|| self.tables.known(&positions));
        let found = (
            column(py, &found, Option::is_some),
            column(py, &found, |one| one.map_or(0, |proven| proven.verdict.sign())),
            column(py, &found, |one| one.as_ref().map_or(NO_PLIES, plies)),
        );
        py.import("jarmo._types")?.call_method1("Lookup", found)
    }

    /// Every legal action with its result for the player who acts (1, 0, -1) and its plies (-1 without); None if
    /// the tables do not know the position.
    fn actions(&self, position: &Bound<'_, Position>) -> PyResult<Option<Vec<(u16, i8, i32)>>> {
        let position = &positions_of(position.as_any(), Some(&*self.game.0))?[0];
        let actions = self.tables.actions(position);
        let row = |(action, proven): (u16, Proven)| (action, proven.verdict.sign(), plies(&proven));
        Ok(actions.map(|actions| actions.into_iter().map(row).collect()))
    }

    fn __repr__(&self) -> String {
        format!("jarmo.Tables({:?})", self.folder.display().to_string())
    }
}
