//! `jarmo.Game`: the rules of a game, which the crate `jarmo-facade` has as one object.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use jarmo_core::encode::Mirror;
use jarmo_core::game::{Action, Player};
use jarmo_exact::catalog::{GAMES, GameSettings};
use jarmo_facade::{AnyGame, Games};
use numpy::IntoPyArray;
use numpy::ndarray::Array2;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::array::copied;
use crate::number;
use crate::position::{Position, positions_of};
use crate::refusal::Checked;

/// The rules of a game with their settings.
///
/// Games with equal rules are equal. All functions that take a game take its name, too, for the standard settings.
///
/// Args:
///     name: One of ``jarmo.GAMES``.
///     max_plies: A game is truncated and drawn after this many actions, 0 for never; by default the game's limit.
///     board: A board file that replaces the standard board (jarmo and guard), or ``"random:SEED"`` for a random one.
///     quiet_limit: Plies without a capture after which tammi is drawn.
#[pyclass(frozen, name = "Game", module = "jarmo", eq, hash)]
#[derive(Clone)]
pub struct PyGame(pub Arc<dyn AnyGame>);

impl PartialEq for PyGame {
    fn eq(&self, other: &PyGame) -> bool {
        let (own, other) = (self.0.facts(), other.0.facts());
        std::ptr::eq(own, other)
            || own.version == other.version && own.max_plies == other.max_plies && own.quiet_limit == other.quiet_limit
    }
}

impl Eq for PyGame {}

impl std::hash::Hash for PyGame {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.facts().name.hash(state);
    }
}

/// As Python code, with its settings.
impl fmt::Display for PyGame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.0.facts();
        write!(out, "jarmo.Game({:?}, max_plies={}", facts.name, facts.max_plies)?;
        if !self.is_on_standard_board() {
            out.write_str(", board=...")?;
        }
        if let Some(limit) = facts.quiet_limit {
            write!(out, ", quiet_limit={limit}")?;
        }
        out.write_str(")")
    }
}

/// As an argument, a game may be its name.
impl<'py> FromPyObject<'_, 'py> for PyGame {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<PyGame> {
        if let Ok(game) = given.cast::<PyGame>() {
            return Ok(game.get().clone());
        }
        let name: String = given
            .extract()
            .map_err(|_| PyTypeError::new_err("game must be a jarmo.Game or the name of one, such as \"jarmo\""))?;
        Ok(PyGame(named(&name, GameSettings::default())?))
    }
}

impl PyGame {
    /// The game that is meant where none is named.
    pub(crate) fn standard() -> PyGame {
        let game = named(GAMES[0], GameSettings::default());
        PyGame(game.expect("the standard settings are valid"))
    }

    /// Whether its name alone means these rules.
    pub(crate) fn is_standard(&self) -> bool {
        named(self.0.facts().name, GameSettings::default()).is_ok_and(|standard| *self == PyGame(standard))
    }

    /// This game and the one with other rules that was wanted, for messages: ``A, not of B``.
    pub(crate) fn not_of(&self, wanted: &PyGame) -> String {
        let (own, wanted) = (self.to_string(), wanted.to_string());
        let boards = if own == wanted { "; their boards differ" } else { "" };
        format!("{own}, not of {wanted}{boards}")
    }

    /// Whether no other board was given.
    fn is_on_standard_board(&self) -> bool {
        let facts = self.0.facts();
        let standard = named(facts.name, GameSettings::default());
        standard.is_ok_and(|standard| standard.facts().version.board == facts.version.board)
    }
}

pub(crate) fn named(name: &str, settings: GameSettings) -> Checked<Arc<dyn AnyGame>> {
    Ok(Games::shipped().open(name, &settings)?)
}

#[pymethods]
impl PyGame {
    #[new]
    #[pyo3(signature = (name="jarmo", *, max_plies=None, board=None, quiet_limit=None))]
    fn new(
        name: &str,
        #[pyo3(from_py_with = number::MAX_PLIES)] max_plies: Option<u32>,
        board: Option<PathBuf>,
        #[pyo3(from_py_with = number::QUIET_LIMIT)] quiet_limit: Option<u32>,
    ) -> PyResult<PyGame> {
        let settings = GameSettings { board, max_plies, quiet_limit };
        Ok(PyGame(named(name, settings)?))
    }

    /// One of ``jarmo.GAMES``.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.facts().name
    }

    /// The number of actions; every action is an index below it.
    #[getter]
    fn num_actions(&self) -> usize {
        self.0.facts().version.shape.actions
    }

    /// A game is truncated and drawn after this many actions; 0 for never.
    #[getter]
    fn max_plies(&self) -> u32 {
        self.0.facts().max_plies
    }

    /// The version of the rules. It is increased whenever the rules or the numbers of actions and features change.
    #[getter]
    fn rules_version(&self) -> u32 {
        self.0.facts().version.rules_version
    }

    /// Planes, rows and columns of a position's features. With ``threats``, planes for cells under attack, possible
    /// captures and the like follow. The networks of agent files need them.
    #[pyo3(signature = (*, threats=false))]
    fn feature_shape(&self, threats: bool) -> (usize, usize, usize) {
        let [_, planes, rows, columns] = self.0.facts().feature_shape(1, threats);
        (planes, rows, columns)
    }

    /// The content of each plane of features, and with ``threats`` of each plane of threats. The cells of planes of
    /// numbers are listed in docs/games.
    #[pyo3(signature = (*, threats=false))]
    fn plane_names(&self, threats: bool) -> Vec<String> {
        let [_, planes, ..] = self.0.facts().feature_shape(1, threats);
        self.0.plane_names().into_iter().take(planes).collect()
    }

    /// Which cells the board's lines join, ``[cells, cells]``. In games without lines, none.
    #[getter]
    fn lines<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        let layout = &self.0.facts().layout;
        let mut joined = Array2::from_elem((layout.cells.len(), layout.cells.len()), false);
        for &(one, other) in &layout.lines {
            (joined[[one, other]], joined[[other, one]]) = (true, true);
        }
        joined.into_pyarray(py).into_any()
    }

    /// The text of every action by index, from White's point of view and without captures. In tammi, actions are from
    /// the point of view of the player to move.
    #[getter]
    fn action_names(&self) -> Vec<String> {
        let (start, actions) = (&self.0.facts().start, self.0.facts().version.shape.actions);
        (0..actions).map(|action| self.0.action_text(start, Action(action as u16))).collect()
    }

    /// The symmetries of the game, which keep its rules and results. The first one is the identity.
    #[pyo3(signature = (*, threats=false))]
    fn symmetries<'py>(&self, py: Python<'py>, threats: bool) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let facts = self.0.facts();
        let types = py.import("jarmo._types")?;
        let width: usize = facts.feature_shape(1, threats).iter().product();
        let same =
            Mirror { inputs: (0..width as u16).collect(), actions: (0..facts.version.shape.actions as u16).collect() };
        let symmetry = |Mirror { inputs, actions }: Mirror| {
            let [features, actions] = [&inputs[..width], &actions]
                .map(|indices| indices.iter().map(|&index| i64::from(index)).collect::<Vec<_>>());
            types.call_method1("Symmetry", (copied(py, &features), copied(py, &actions)))
        };
        [same].into_iter().chain(facts.mirror.clone()).map(symmetry).collect()
    }

    /// The position a game starts from.
    #[getter]
    fn start(&self) -> Position {
        Position { game: self.clone(), at: self.0.facts().start.clone() }
    }

    /// Reads a position from its text; the error names the field that is wrong.
    fn position(&self, text: &str) -> Checked<Position> {
        Ok(Position { game: self.clone(), at: self.0.parse(text)? })
    }

    /// The features of ``N`` positions, ``[N, planes, rows, columns]``, 0 or 1: as the player to move sees them, or as
    /// if ``viewer`` (0 for White, 1 for Black) were to move.
    #[pyo3(signature = (positions, *, threats=false, viewer=None))]
    fn features<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threats: bool,
        #[pyo3(from_py_with = number::VIEWER)] viewer: Option<u8>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (_, positions) = positions_of(positions, Some(self))?;
        let viewer = viewer.map(|viewer| Player::BOTH[usize::from(viewer)]);
        let features = py.detach(|| self.0.features(&positions, threats, viewer));
        Ok(features.into_pyarray(py).into_any())
    }

    /// The legal actions of ``N`` positions, ``[N, actions]``; none where the game is over.
    fn masks<'py>(&self, py: Python<'py>, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (_, positions) = positions_of(positions, Some(self))?;
        Ok(py.detach(|| self.0.masks(&positions)).into_pyarray(py).into_any())
    }

    /// For pickling.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((&'static str,), Bound<'py, PyDict>)> {
        let facts = self.0.facts();
        if !self.is_on_standard_board() {
            return Err(PyTypeError::new_err("a game on another board than the standard one cannot be pickled"));
        }
        let settings = [("max_plies", Some(facts.max_plies)), ("quiet_limit", facts.quiet_limit)];
        Ok(((facts.name,), settings.into_py_dict(py)?))
    }

    fn __copy__(this: Py<PyGame>) -> Py<PyGame> {
        this
    }

    fn __deepcopy__(this: Py<PyGame>, _memo: &Bound<'_, PyAny>) -> Py<PyGame> {
        this
    }

    fn __repr__(&self) -> String {
        self.to_string()
    }
}
