//! The user's functions as players: they get positions and give actions.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Sender};

use jarmo_core::eval::Value;
use jarmo_core::game::{Action, Mask};
use jarmo_exact::agent::{Agent, AgentSpec, Agents, Decision, Request, build_all, build_all_without_search};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::program::cores;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::agent::PlayerArgument;
use crate::array::integers;
use crate::ask::serve;
use crate::game::{AnyGame, Rules};
use crate::position::Position;
use crate::refusal::Checked;

/// Calls a function with positions and checks its actions. Errors name the argument that the function was.
pub(crate) fn ask(function: &Bound<'_, PyAny>, argument: &str, positions: &[Position]) -> PyResult<Vec<Action>> {
    let given: Vec<Position> = positions.iter().map(|one| one.at.copy()).collect();
    let actions = function.call1((given,))?;
    let name = format!("{argument}: the actions");
    let actions = integers(&actions, &name, positions.len())?;
    let chosen = positions.iter().zip(&actions).enumerate();
    let chosen = chosen.map(|(row, (Position { at }, &action))| {
        let known = u16::try_from(action).ok();
        let legal = known.filter(|action| at.legal().contains(action));
        legal.map(Action).ok_or_else(|| {
            PyValueError::new_err(format!("{argument}: action {action} is illegal in positions[{row}]: {}", at.text()))
        })
    });
    chosen.collect()
}

/// Positions for one of several functions.
struct Question {
    function: usize,
    positions: Vec<Position>,
    answer: Sender<Vec<Action>>, // dropped after an error
}

/// Sends positions to the thread that can call the user's functions.
#[derive(Clone)]
pub struct RemotePlayers(Sender<Option<Question>>);

/// Runs `work`, whose players can be functions, which this thread calls. Sets `stop` after an error in one, or Ctrl-C;
/// then the result is dropped.
pub(crate) fn with_functions<T: Send>(
    py: Python<'_>,
    functions: &[Bound<'_, PyAny>],
    stop: &AtomicBool,
    work: impl FnOnce(RemotePlayers) -> T + Send,
) -> PyResult<T> {
    let (questions, mut receiver) = mpsc::channel();
    let remote = RemotePlayers(questions.clone());
    serve(
        py,
        (questions, &mut receiver),
        stop,
        || work(remote),
        |question: Question| {
            let function = &functions[question.function];
            let actions = ask(function, "agents", &question.positions)?;
            let _ = question.answer.send(actions); // the agent waits for them
            Ok(())
        },
    )
}

/// [`with_functions`] for one player: `work` gets its name, and if it is a function, what calls it.
pub(crate) fn with_player<T: Send>(
    py: Python<'_>,
    player: &PlayerArgument,
    game: &Arc<dyn AnyGame>,
    work: impl FnOnce(&str, Option<RemotePlayers>) -> Checked<T> + Send,
) -> PyResult<T> {
    player.check(game)?;
    let functions = player.function().into_iter();
    let functions: Vec<_> = functions.map(|function| function.bind(py).clone()).collect();
    let (name, is_function) = (player.name(py), !functions.is_empty());
    let stop = AtomicBool::new(false);
    Ok(with_functions(py, &functions, &stop, |remote| work(&name, is_function.then_some(remote)))??)
}

/// The agents of a player: a function's own, or one of the spec per core. `without_search` takes the network alone.
pub(crate) fn team<G: CatalogGame>(
    rules: &Arc<Rules<G>>,
    player: &str,
    function: Option<RemotePlayers>,
    without_search: bool,
) -> Checked<Agents<G>> {
    if let Some(players) = function {
        let name = player.to_owned();
        return Ok(vec![Box::new(RemoteAgent { rules: rules.clone(), name, function: 0, players })]);
    }
    let spec: AgentSpec = player.parse()?;
    if !without_search {
        return Ok(build_all(&rules.game, &spec, cores())?);
    }
    let networks = build_all_without_search(&rules.game, &spec, cores())?;
    Ok(networks.ok_or_else(|| format!("{spec} has no network, so its budget cannot be 0"))?)
}

/// A function as an agent, on any thread.
pub(crate) struct RemoteAgent<G: CatalogGame> {
    pub rules: Arc<Rules<G>>,
    pub name: String,
    pub function: usize,
    pub players: RemotePlayers,
}

impl<G: CatalogGame> Agent<G> for RemoteAgent<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let positions = requests.iter();
        let positions = positions.map(|request| Position::new(&self.rules, request.position));
        let (answer, answered) = mpsc::channel();
        let question = Question { function: self.function, positions: positions.collect(), answer };
        let _ = self.players.0.send(Some(question)); // the thread that answers waits for the work
        let actions = answered.recv().unwrap_or_else(|_| {
            // After an error the games do not count.
            let legal = requests.iter();
            let legal = legal.map(|request| self.rules.game.legal(&request.position).nth(0));
            legal.collect()
        });
        let decision =
            |action| Decision { action, value: Value::EVEN, proven: None, nodes: 0, depth: 0, candidates: Vec::new() };
        actions.into_iter().map(decision).collect()
    }
}
