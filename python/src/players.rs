//! Players as arguments, and the user's functions among them: they get positions, or features and masks, and give
//! actions.

use std::sync::Arc;

use jarmo_core::game::{Action, AnyPosition};
use jarmo_exact::agent::{Networks, read_spec};
use jarmo_facade::AgentPlan;
use numpy::IntoPyArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::agent::Agent;
use crate::array::integers;
use crate::ask::{check_logits, floats};
use crate::game::PyGame;
use crate::number;
use crate::position::Position;
use crate::refusal::Checked;
use crate::threads::Caller;

/// A player as an argument: an agent, its spec, or a function.
#[derive(Clone)]
pub(crate) struct Player {
    /// The spec, or the name of a function.
    pub name: String,
    pub kind: Kind,
    /// The argument as it was given.
    pub given: Arc<Py<PyAny>>,
    agent: Option<(PyGame, Networks)>, // its game, and its network as it has loaded it
}

/// What a player is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Agent,
    /// A function of a list of positions, which gives actions.
    OfPositions,
    /// A function of features and masks, which gives actions, logits, or logits and values.
    OfFeatures,
}

impl<'py> FromPyObject<'_, 'py> for Player {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Player> {
        let player = |name, kind, agent| {
            let given = Arc::new(given.to_owned().unbind());
            Ok(Player { name, kind, given, agent })
        };
        if let Ok(agent) = given.cast::<Agent>() {
            let Agent { spec, game, networks, .. } = agent.get();
            return player(spec.to_string(), Kind::Agent, Some((game.clone(), networks.clone())));
        }
        if let Some(spec) = number::spec(&given) {
            return player(spec, Kind::Agent, None);
        }
        if given.is_callable() {
            let types = given.py().import("jarmo._types")?;
            let of_positions = types.call_method1("takes_positions", (given,))?.extract()?;
            let name = types.call_method1("name_of", (given,))?.extract()?;
            return player(name, if of_positions { Kind::OfPositions } else { Kind::OfFeatures }, None);
        }
        Err(PyTypeError::new_err(format!(
            "a player must be a jarmo.Agent, the spec of one, or a function of positions or of features and masks, not {}",
            given.get_type().name()?
        )))
    }
}

/// Refuses an agent with this spec if its game is not this one.
pub(crate) fn check_game(spec: &str, own: &PyGame, game: &PyGame) -> PyResult<()> {
    if own == game {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{spec:?} is an agent of {}", own.not_of(game))))
}

impl Player {
    /// Refuses an agent of another game.
    pub(crate) fn check(&self, game: &PyGame) -> PyResult<()> {
        self.agent.as_ref().map_or(Ok(()), |(own, _)| check_game(&self.name, own, game))
    }

    /// The networks of an agent; for a spec those that it may share with others.
    pub(crate) fn networks<'a>(&'a self, shared: &'a Networks) -> &'a Networks {
        self.agent.as_ref().map_or(shared, |(_, networks)| networks)
    }

    pub(crate) fn is_function(&self) -> bool {
        self.kind != Kind::Agent
    }

    /// The function, if it is one. The features that it may take have the threat planes, or do not.
    pub(crate) fn policy(&self, threats: bool) -> Option<Policy> {
        let of_features = self.kind == Kind::OfFeatures;
        self.is_function().then(|| Policy { function: self.given.clone(), of_features, threats })
    }

    /// The agent to build. A function is asked through this caller, and errors name the argument that it was.
    pub(crate) fn plan(
        &self,
        game: &PyGame,
        caller: &Caller,
        argument: &'static str,
        threats: bool,
    ) -> Checked<AgentPlan> {
        let Some(policy) = self.policy(threats) else {
            return Ok(AgentPlan::new(read_spec(&self.name)?, self.networks(&Networks::new())));
        };
        let (game, caller) = (game.clone(), caller.clone());
        Ok(AgentPlan::function(move |positions| {
            let (policy, asked) = (policy.clone(), (game.clone(), positions.to_vec()));
            let actions = caller.call(move |py| policy.ask(py, argument, &asked.0, &asked.1));
            actions.unwrap_or_else(|| first_actions(&game, positions))
        }))
    }
}

/// A legal action in each position. After an error it does not matter which.
pub(crate) fn first_actions(game: &PyGame, positions: &[AnyPosition]) -> Vec<Action> {
    positions.iter().map(|position| game.0.legal(position)[0]).collect()
}

/// A function of the user that decides.
#[derive(Clone)]
pub(crate) struct Policy {
    pub function: Arc<Py<PyAny>>,
    of_features: bool,
    threats: bool,
}

impl Policy {
    /// Calls the function with positions of a game and checks its actions. Errors name the argument that it was.
    pub(crate) fn ask(
        &self,
        py: Python<'_>,
        argument: &str,
        game: &PyGame,
        positions: &[AnyPosition],
    ) -> PyResult<Vec<Action>> {
        let actions = match self.of_features {
            true => self.ask_with_features(py, argument, game, positions)?,
            false => {
                let shown = positions.iter().map(|at| Position { game: game.clone(), at: at.clone() });
                let actions = self.function.bind(py).call1((shown.collect::<Vec<_>>(),))?;
                integers(&actions, &format!("{argument}: the actions"), positions.len())?
            }
        };
        let chosen = positions.iter().zip(&actions).enumerate();
        let chosen = chosen.map(|(row, (position, &action))| {
            let known = u16::try_from(action).ok().map(Action);
            known.filter(|action| game.0.legal(position).contains(action)).ok_or_else(|| {
                let text = game.0.text(position);
                PyValueError::new_err(format!("{argument}: action {action} is illegal in positions[{row}]: {text}"))
            })
        });
        chosen.collect()
    }

    /// The actions of a function of features and masks: those that it gives, or the legal ones with the highest logits.
    fn ask_with_features(
        &self,
        py: Python<'_>,
        argument: &str,
        game: &PyGame,
        positions: &[AnyPosition],
    ) -> PyResult<Vec<i64>> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let (features, masks) = (game.0.features(positions, self.threats, None), game.0.masks(positions));
        let (rows, actions) = masks.dim();
        let shown = (features.into_pyarray(py), masks.clone().into_pyarray(py));
        let answer = self.function.bind(py).call1(shown)?;
        let answer = match answer.cast::<PyTuple>() {
            Ok(both) if both.len() == 2 => both.get_item(0)?,
            _ => answer,
        };
        let array = py.import("numpy")?.call_method1("asarray", (answer,))?;
        if array.getattr("ndim")?.extract::<usize>()? == 1 {
            return integers(&array, &format!("{argument}: the actions"), rows);
        }
        let (logits, _) = floats(&array, &format!("{argument}: logits"), &[rows, actions])?;
        check_logits(argument, &logits, masks.view()).map_err(|(row, error)| {
            PyValueError::new_err(format!("{error}; positions[{row}] is {}", game.0.text(&positions[row])))
        })?;
        let best = |(logits, position): (&[f32], &AnyPosition)| {
            let logit = |action: &Action| logits[action.index()];
            // Of equal logits the lowest action counts, as in `numpy.argmax`.
            let legal = game.0.legal(position).into_iter().rev();
            let best = legal.max_by(|one, two| logit(one).partial_cmp(&logit(two)).expect("finite"));
            i64::from(best.expect("the game is not over").0)
        };
        Ok(logits.chunks_exact(actions).zip(positions).map(best).collect())
    }
}
