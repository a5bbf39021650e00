//! `jarmo.Tables`: exact results of endgames.

use std::path::PathBuf;
use std::sync::Arc;

use jarmo_core::game::{Action, Proven};
use jarmo_facade::AnyEndgames;
use pyo3::prelude::*;

use crate::array::column;
use crate::game::PyGame;
use crate::position::{Position, positions_of};
use crate::refusal::Refusal;

/// The plies of a result that has none.
pub(crate) const NO_PLIES: i32 = -1;

/// Exact tables, as ``jarmo tables build`` writes them (jarmo and tammi).
#[pyclass(frozen, module = "jarmo")]
pub struct Tables {
    /// The rules of their game.
    #[pyo3(get)]
    game: PyGame,
    folder: PathBuf,
    tables: Arc<dyn AnyEndgames>,
}

pub(crate) fn plies(proven: &Proven) -> i32 {
    proven.plies.map_or(NO_PLIES, |plies| i32::try_from(plies).unwrap_or(i32::MAX))
}

#[pymethods]
impl Tables {
    #[new]
    #[pyo3(signature = (folder, *, game=PyGame::standard()), text_signature = "(folder, *, game='jarmo')")]
    fn new(py: Python<'_>, folder: PathBuf, game: PyGame) -> PyResult<Tables> {
        let tables = py.detach(|| game.0.endgames(&folder)).map_err(Refusal::from)?;
        Ok(Tables { tables, game, folder })
    }

    /// The results of ``N`` positions.
    fn lookup<'py>(&self, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = positions.py();
        let (_, positions) = positions_of(positions, Some(&self.game))?;
        let found = py.detach(|| self.tables.known_all(&positions));
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
        let py = position.py();
        let (_, positions) = positions_of(position.as_any(), Some(&self.game))?;
        let actions = py.detach(|| self.tables.actions(&positions[0]));
        let row = |(action, proven): (Action, Proven)| (action.0, proven.verdict.sign(), plies(&proven));
        Ok(actions.map(|actions| actions.into_iter().map(row).collect()))
    }

    fn __repr__(&self) -> String {
        format!("jarmo.Tables({:?})", self.folder.display().to_string())
    }
}
