//! Players as arguments, and the user's functions among them: they get positions and give actions.

use std::sync::Arc;

use jarmo_core::eval::Value;
use jarmo_core::game::{Action, Mask};
use jarmo_exact::agent::{Agent as Plays, AgentSpec, Agents, Decision, Request, build_all, build_without_search};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::program::cores;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::agent::Agent;
use crate::array::integers;
use crate::game::{AnyGame, PyGame, Rules};
use crate::position::Position;
use crate::refusal::Checked;
use crate::threads::Caller;

/// A player as an argument: an agent, its spec, or a function of positions.
#[derive(Clone)]
pub struct Player {
    /// The spec, or the name of a function.
    pub name: String,
    pub is_function: bool,
    /// The argument as it was given.
    pub given: Arc<Py<PyAny>>,
    game: Option<PyGame>, // of an agent
}

impl<'py> FromPyObject<'_, 'py> for Player {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Player> {
        let player = |name, is_function, game| {
            let given = Arc::new(given.to_owned().unbind());
            Ok(Player { name, is_function, given, game })
        };
        if let Ok(agent) = given.cast::<Agent>() {
            let Agent { spec, game, .. } = agent.get();
            return player(spec.to_string(), false, Some(game.clone()));
        }
        if let Ok(spec) = given.extract() {
            return player(spec, false, None);
        }
        if given.is_callable() {
            let name = given.getattr("__name__").and_then(|name| name.extract());
            return player(name.unwrap_or_else(|_| given.get_type().to_string()), true, None);
        }
        Err(PyTypeError::new_err(format!(
            "a player must be a jarmo.Agent, the spec of one, or a function that gives actions for positions, not {}",
            given.get_type().name()?
        )))
    }
}

impl Player {
    /// Refuses an agent of another game.
    pub fn check(&self, game: &Arc<dyn AnyGame>) -> PyResult<()> {
        match &self.game {
            Some(PyGame(own)) if own.facts() != game.facts() => Err(PyValueError::new_err(format!(
                "{:?} is an agent of {} with other rules than {}",
                self.name,
                own.facts().name,
                game.facts().name
            ))),
            _ => Ok(()),
        }
    }

    /// The function as an agent that asks through this caller, if it is one.
    pub(crate) fn as_agent<G: CatalogGame>(&self, rules: &Arc<Rules<G>>, caller: &Caller) -> Option<Box<dyn Plays<G>>> {
        let agent = || RemoteAgent { rules: rules.clone(), player: self.clone(), caller: caller.clone() };
        self.is_function.then(|| Box::new(agent()) as _)
    }

    /// A function's own agent, or one of the spec per core. `without_search` takes the network alone.
    pub(crate) fn team<G: CatalogGame>(
        &self,
        rules: &Arc<Rules<G>>,
        caller: &Caller,
        without_search: bool,
    ) -> Checked<Agents<G>> {
        if let Some(agent) = self.as_agent(rules, caller) {
            return Ok(vec![agent]);
        }
        let spec: AgentSpec = self.name.parse()?;
        if !without_search {
            return Ok(build_all(&rules.game, &spec, cores())?);
        }
        let networks = build_without_search(&rules.game, &spec, cores())?;
        Ok(networks.ok_or_else(|| format!("{spec} has no network, so its budget cannot be 0"))?)
    }
}

/// Calls a function with positions and checks its actions. Errors name the argument that the function was.
pub(crate) fn ask(function: &Bound<'_, PyAny>, argument: &str, positions: &[Position]) -> PyResult<Vec<Action>> {
    let actions = function.call1((positions.to_vec(),))?;
    let name = format!("{argument}: the actions");
    let actions = integers(&actions, &name, positions.len())?;
    let chosen = positions.iter().zip(&actions).enumerate();
    let chosen = chosen.map(|(row, (Position { at, .. }, &action))| {
        let known = u16::try_from(action).ok();
        let legal = known.filter(|action| at.legal().contains(action));
        legal.map(Action).ok_or_else(|| {
            PyValueError::new_err(format!("{argument}: action {action} is illegal in positions[{row}]: {}", at.text()))
        })
    });
    chosen.collect()
}

/// A function as an agent, on any thread.
struct RemoteAgent<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    player: Player,
    caller: Caller,
}

impl<G: CatalogGame> Plays<G> for RemoteAgent<G> {
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let positions = requests.iter().map(|request| Position::new(&self.rules, request.position));
        let (positions, function) = (positions.collect::<Vec<_>>(), self.player.given.clone());
        let actions = self.caller.call(move |py| ask(function.bind(py), "agents", &positions));
        let actions = actions.unwrap_or_else(|| {
            // After an error the games do not count.
            requests.iter().map(|request| self.rules.game.legal(&request.position).nth(0)).collect()
        });
        let decision =
            |action| Decision { action, value: Value::EVEN, proven: None, nodes: 0, depth: 0, candidates: Vec::new() };
        actions.into_iter().map(decision).collect()
    }
}
