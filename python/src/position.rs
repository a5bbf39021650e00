//! `jarmo.Position`: a position with its rules, as a value.

use jarmo_core::game::{Action, AnyPosition, Player};
use jarmo_core::view::Arrow;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::game::PyGame;
use crate::refusal::Checked;

/// A position of a game, an immutable value.
///
/// Positions are equal if search treats them as the same. A notebook shows a position as a picture, ``print`` as text.
#[pyclass(frozen, eq, hash, module = "jarmo")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Position {
    /// The rules of its game.
    #[pyo3(get)]
    pub game: PyGame,
    pub at: AnyPosition,
}

impl Position {
    /// The action of an argument: its index, or its text.
    fn action(&self, given: &Bound<'_, PyAny>) -> PyResult<Action> {
        if let Ok(text) = given.extract::<&str>() {
            return Ok(Action(self.parse_action(text)?));
        }
        let index: i64 =
            given.extract().map_err(|_| PyTypeError::new_err("an action is its index, a whole number, or its text"))?;
        let actions = self.game.0.facts().version.shape.actions as i64;
        if !(0..actions).contains(&index) {
            return Err(PyValueError::new_err(format!(
                "action {index}: the game has only actions 0 to {}",
                actions - 1
            )));
        }
        Ok(Action(index as u16))
    }

    /// The legal action of an argument.
    fn legal_action(&self, given: &Bound<'_, PyAny>) -> PyResult<Action> {
        let action = self.action(given)?;
        self.after(action)?;
        Ok(action)
    }

    fn after(&self, action: Action) -> Checked<Position> {
        Ok(Position { game: self.game.clone(), at: self.game.0.after(&self.at, action)? })
    }

    fn draw(&self, actions: &[Action], title: &str) -> String {
        let arrow = |&action: &Action| {
            let gesture = self.game.0.describe(&self.at, action).gesture;
            Some(Arrow { from: gesture.from, to: gesture.to?, legal: true })
        };
        self.game.0.picture(&self.at, &actions.iter().filter_map(arrow).collect::<Vec<_>>(), title)
    }
}

#[pymethods]
impl Position {
    /// 0 if White is to move, 1 if Black is.
    #[getter]
    fn to_move(&self) -> usize {
        self.at.to_move.index()
    }

    /// The number of actions played.
    #[getter]
    fn ply(&self) -> u32 {
        self.at.ply
    }

    /// The position as text; ``game.position(text)`` reads it. The text of tammi leaves out the earlier positions
    /// that count for repetitions.
    #[getter]
    fn text(&self) -> String {
        self.game.0.text(&self.at)
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.at.outcome.is_some()
    }

    /// The legal actions, lowest first; none if the game is over.
    #[getter]
    fn legal(&self) -> Vec<u16> {
        self.game.0.legal(&self.at).into_iter().map(|action| action.0).collect()
    }

    /// The legal actions as text, in the order of ``legal``.
    #[getter]
    fn legal_texts(&self) -> Vec<String> {
        let legal = self.game.0.legal(&self.at);
        legal.into_iter().map(|action| self.game.0.action_text(&self.at, action)).collect()
    }

    /// The text of a legal action.
    fn action_text(&self, action: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.game.0.action_text(&self.at, self.legal_action(action)?))
    }

    /// The action with this text, which may be illegal.
    #[pyo3(signature = (text))]
    fn parse_action(&self, text: &str) -> Checked<u16> {
        Ok(self.game.0.parse_action(&self.at, text)?.0)
    }

    /// The position after these actions, given as indices or texts. The error says why one is illegal.
    #[pyo3(signature = (*actions))]
    fn play(&self, actions: Vec<Bound<'_, PyAny>>) -> PyResult<Position> {
        let mut here = self.clone();
        for given in &actions {
            here = here.after(here.action(given)?)?;
        }
        Ok(here)
    }

    /// How the game ended; None if it is not over.
    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(outcome) = self.at.outcome else {
            return Ok(None);
        };
        let winner = outcome.winner.map(Player::index);
        let score = outcome.score.map(|[white, black]| (white, black));
        let outcome = (winner, score, outcome.truncated);
        py.import("jarmo._types")?.call_method1("Outcome", outcome).map(Some)
    }

    /// A picture as SVG, with legal actions as arrows.
    #[pyo3(signature = (actions=None, *, title=None))]
    fn svg(&self, actions: Option<Vec<Bound<'_, PyAny>>>, title: Option<&str>) -> PyResult<String> {
        let actions = actions.iter().flatten().map(|given| self.legal_action(given)).collect::<PyResult<Vec<_>>>()?;
        Ok(self.draw(&actions, title.unwrap_or(&self.text())))
    }

    fn _repr_svg_(&self) -> String {
        self.draw(&[], &self.text())
    }

    fn __str__(&self) -> String {
        self.game.0.drawing(&self.at)
    }

    fn __repr__(&self) -> String {
        let game = match self.game.is_standard() {
            true => format!("jarmo.Game({:?})", self.game.0.facts().name),
            false => self.game.to_string(),
        };
        format!("{game}.position({:?})", self.text())
    }

    fn __copy__(this: Py<Position>) -> Py<Position> {
        this
    }

    fn __deepcopy__(this: Py<Position>, _memo: &Bound<'_, PyAny>) -> Py<Position> {
        this
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.text();
        if !self.game.0.parse(&text).is_ok_and(|again| again == self.at) {
            return Err(PyTypeError::new_err(format!(
                "this position cannot be pickled, because its text leaves out earlier positions that count: {text}"
            )));
        }
        let read = Bound::new(py, self.game.clone())?.getattr("position")?;
        Ok((read, (text,)).into_pyobject(py)?.into_any())
    }
}

/// What an argument lists: one position, or the items of a sequence.
pub(crate) fn listed<'py>(given: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if given.is_instance_of::<Position>() {
        return Ok(vec![given.clone()]);
    }
    let list = given.try_iter().map_err(|_| {
        PyTypeError::new_err(format!(
            "positions must be a jarmo.Position or a sequence of them, not {}; an environment has positions()",
            given.get_type()
        ))
    })?;
    list.collect()
}

/// The positions of an argument: one position or a sequence of them. All must be of this game, or else of the same one,
/// which is returned, too.
pub(crate) fn positions_of(given: &Bound<'_, PyAny>, game: Option<&PyGame>) -> PyResult<(PyGame, Vec<AnyPosition>)> {
    let list = listed(given)?;
    let (mut game, mut positions) = (game.cloned(), Vec::with_capacity(list.len()));
    for (index, one) in list.into_iter().enumerate() {
        let one = one.cast_into::<Position>();
        let one = one.map_err(|_| PyTypeError::new_err(format!("positions[{index}] is not a jarmo.Position")))?;
        let Position { game: own, at } = one.get();
        let wanted = game.get_or_insert_with(|| own.clone());
        if own != wanted {
            return Err(PyValueError::new_err(format!("positions[{index}] is of {}", own.not_of(wanted))));
        }
        positions.push(at.clone());
    }
    // Without positions there is no game, and nothing is asked of it.
    Ok((game.unwrap_or_else(PyGame::standard), positions))
}

/// [`positions_of`], refusing positions that are over.
pub(crate) fn open_positions_of(
    given: &Bound<'_, PyAny>,
    game: Option<&PyGame>,
) -> PyResult<(PyGame, Vec<AnyPosition>)> {
    let (game, positions) = positions_of(given, game)?;
    match positions.iter().position(|position| position.outcome.is_some()) {
        None => Ok((game, positions)),
        Some(index) => Err(PyValueError::new_err(format!("positions[{index}]: the game is over"))),
    }
}
