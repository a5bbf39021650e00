//! `jarmo.Position`: a position with its rules, as a value.

use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use jarmo_core::game::{Action, Mask, Outcome, Player};
use jarmo_core::view::{Arrow, svg};
use jarmo_exact::catalog::CatalogGame;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::game::{AnyGame, PyGame, Rules};
use crate::refusal::Checked;

/// A position of one game.
struct At<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    position: G::Position,
}

/// A position of a game whose type is not known.
pub trait AnyPosition: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn text(&self) -> String;
    fn drawing(&self) -> String;
    fn svg(&self, actions: &[u16], title: &str) -> String;
    fn legal(&self) -> Vec<u16>;
    fn action_text(&self, action: u16) -> String;
    fn parse_action(&self, text: &str) -> Checked<u16>;
    fn play(&self, action: u16) -> Checked<Position>;
    fn write_features(&self, out: &mut [f32], threats: bool, viewer: Option<Player>);
    fn same(&self, other: &dyn AnyPosition) -> bool;
    fn hash(&self) -> u64;
}

impl<G: CatalogGame> AnyPosition for At<G> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn text(&self) -> String {
        self.rules.game.position_text(&self.position)
    }

    fn drawing(&self) -> String {
        self.rules.game.display(&self.position).to_string()
    }

    fn svg(&self, actions: &[u16], title: &str) -> String {
        let game = &self.rules.game;
        let arrow = |&action: &u16| {
            let gesture = game.gesture(&self.position, Action(action));
            Some(Arrow { from: gesture.from, to: gesture.to?, legal: true })
        };
        let arrows: Vec<Arrow> = actions.iter().filter_map(arrow).collect();
        svg::draw(game, &self.position, &arrows, title)
    }

    fn legal(&self) -> Vec<u16> {
        let legal = self.rules.game.legal(&self.position);
        legal.iter().map(|action| action.0).collect()
    }

    fn action_text(&self, action: u16) -> String {
        self.rules.game.action_text(&self.position, Action(action))
    }

    fn parse_action(&self, text: &str) -> Checked<u16> {
        Ok(self.rules.game.parse_action(&self.position, text)?.0)
    }

    fn play(&self, action: u16) -> Checked<Position> {
        let mut position = self.position;
        self.rules.game.try_play(&mut position, Action(action))?;
        Ok(Position::new(&self.rules, position))
    }

    fn write_features(&self, out: &mut [f32], threats: bool, viewer: Option<Player>) {
        let (game, position) = (&self.rules.game, &self.position);
        let seen = viewer.map(|viewer| game.seen_by(position, viewer));
        game.set_features(seen.as_ref().unwrap_or(position), out, threats);
    }

    fn same(&self, other: &dyn AnyPosition) -> bool {
        let other: Option<&At<G>> = other.as_any().downcast_ref();
        other.is_some_and(|other| other.position == self.position)
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.position.hash(&mut hasher);
        hasher.finish()
    }
}

/// A position of a game: a value that never changes.
///
/// Positions are equal if search treats them as the same. A notebook shows them as a picture, ``print`` as text.
#[pyclass(frozen, module = "jarmo")]
#[derive(Clone)]
pub struct Position {
    #[pyo3(get)]
    pub game: PyGame,
    /// 0 if White is to move, 1 if Black is.
    #[pyo3(get)]
    to_move: usize,
    /// The number of actions played.
    #[pyo3(get)]
    ply: u32,
    outcome: Option<Outcome>,
    pub at: Arc<dyn AnyPosition>,
}

impl Position {
    pub(crate) fn new<G: CatalogGame>(rules: &Arc<Rules<G>>, position: G::Position) -> Position {
        Position {
            game: PyGame(rules.clone()),
            to_move: rules.game.to_move(&position).index(),
            ply: rules.game.ply(&position),
            outcome: rules.game.outcome(&position),
            at: Arc::new(At { rules: rules.clone(), position }),
        }
    }

    /// The position as one of this game.
    ///
    /// # Panics
    /// Panics if it belongs to another game.
    pub(crate) fn own<G: CatalogGame>(&self) -> G::Position {
        let own: &At<G> = self.at.as_any().downcast_ref().expect("a position of this game");
        own.position
    }

    /// The action of an argument: its index, or its text.
    fn action(&self, given: &Bound<'_, PyAny>) -> PyResult<u16> {
        if let Ok(text) = given.extract::<&str>() {
            return Ok(self.at.parse_action(text)?);
        }
        let index: i64 =
            given.extract().map_err(|_| PyTypeError::new_err("an action is its index, a whole number, or its text"))?;
        let actions = self.game.0.facts().actions as i64;
        if !(0..actions).contains(&index) {
            return Err(PyValueError::new_err(format!(
                "action {index}: the game has only actions 0 to {}",
                actions - 1
            )));
        }
        Ok(index as u16)
    }
}

#[pymethods]
impl Position {
    /// The position as text; ``game.position(text)`` reads it. The text of tammi leaves out the earlier positions
    /// that count for repetitions.
    #[getter]
    fn text(&self) -> String {
        self.at.text()
    }

    #[getter]
    fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// The legal actions, lowest first; none if the game is over.
    #[getter]
    fn legal(&self) -> Vec<u16> {
        self.at.legal()
    }

    /// The legal actions as text, in the order of ``legal``.
    #[getter]
    fn legal_texts(&self) -> Vec<String> {
        let legal = self.at.legal();
        legal.into_iter().map(|action| self.at.action_text(action)).collect()
    }

    /// The text of a legal action.
    fn action_text(&self, action: &Bound<'_, PyAny>) -> PyResult<String> {
        let action = self.action(action)?;
        self.at.play(action)?; // the text of an illegal action would mislead
        Ok(self.at.action_text(action))
    }

    /// The action with this text, which may be illegal.
    #[pyo3(signature = (text))]
    fn parse_action(&self, text: &str) -> Checked<u16> {
        self.at.parse_action(text)
    }

    /// The position after these actions, given as indices or texts. The error says why one is illegal.
    #[pyo3(signature = (*actions))]
    fn play(&self, actions: Vec<Bound<'_, PyAny>>) -> PyResult<Position> {
        let mut here = self.clone();
        for given in &actions {
            here = here.at.play(here.action(given)?)?;
        }
        Ok(here)
    }

    /// How the game ended; None while it goes on.
    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(outcome) = self.outcome else {
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
        let legal = |given| {
            let action = self.action(given)?;
            self.at.play(action)?;
            Ok(action)
        };
        let actions: Vec<u16> = actions.iter().flatten().map(legal).collect::<PyResult<_>>()?;
        let text = self.at.text();
        Ok(self.at.svg(&actions, title.unwrap_or(&text)))
    }

    fn _repr_svg_(&self) -> String {
        self.at.svg(&[], &self.at.text())
    }

    fn __str__(&self) -> String {
        self.at.drawing()
    }

    fn __repr__(&self) -> String {
        let name = self.game.0.facts().name;
        format!("jarmo.Game({name:?}).position({:?})", self.at.text())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Position>().is_ok_and(|other| {
            let other = other.get();
            self.game == other.game && self.at.same(&*other.at)
        })
    }

    fn __copy__(this: Py<Position>) -> Py<Position> {
        this
    }

    fn __deepcopy__(this: Py<Position>, _memo: &Bound<'_, PyAny>) -> Py<Position> {
        this
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.at.text();
        let again = self.game.0.clone().parse(&text);
        if !again.is_ok_and(|again| again.at.same(&*self.at)) {
            return Err(PyTypeError::new_err(format!(
                "this position cannot be pickled, because its text leaves out earlier positions that count: {text}"
            )));
        }
        let read = Bound::new(py, self.game.clone())?.getattr("position")?;
        Ok((read, (text,)).into_pyobject(py)?.into_any())
    }

    fn __hash__(&self) -> u64 {
        self.at.hash()
    }
}

/// The positions of an argument: one position or a sequence of them. All must be of this game, or else of the same one.
pub(crate) fn positions_of(given: &Bound<'_, PyAny>, game: Option<&dyn AnyGame>) -> PyResult<Vec<Position>> {
    let position = |(index, one): (usize, PyResult<Bound<'_, PyAny>>)| {
        let one = one?.cast_into::<Position>();
        let one = one.map_err(|_| PyTypeError::new_err(format!("positions[{index}] is no jarmo.Position")));
        one.map(|one| one.get().clone())
    };
    let positions = match given.cast::<Position>() {
        Ok(one) => vec![one.get().clone()],
        Err(_) => {
            let list = given.try_iter().map_err(|_| {
                PyTypeError::new_err(format!(
                    "positions must be a jarmo.Position or a sequence of them, not {}; an environment has positions()",
                    given.get_type()
                ))
            })?;
            list.enumerate().map(position).collect::<PyResult<_>>()?
        }
    };
    let wanted = game.map(AnyGame::facts).or(positions.first().map(|first| first.game.0.facts()));
    for (index, own) in positions.iter().map(|position| position.game.0.facts()).enumerate() {
        if let Some(facts) = wanted
            && !std::ptr::eq(own, facts)
            && own != facts
        {
            return Err(PyValueError::new_err(format!(
                "positions[{index}] is of {} with other rules than {}",
                own.name, facts.name
            )));
        }
    }
    Ok(positions)
}

/// [`positions_of`], refusing positions that are over.
pub(crate) fn open_positions_of(given: &Bound<'_, PyAny>, game: Option<&dyn AnyGame>) -> PyResult<Vec<Position>> {
    let positions = positions_of(given, game)?;
    match positions.iter().position(|position| position.outcome.is_some()) {
        None => Ok(positions),
        Some(index) => Err(PyValueError::new_err(format!("positions[{index}]: the game is over"))),
    }
}
