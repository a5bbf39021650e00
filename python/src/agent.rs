//! `jarmo.Agent`: who plays, by its spec.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use jarmo_core::game::Game;
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent as Player, AgentSpec, Decision, Limit, Networks, build_from};
use jarmo_exact::catalog::CatalogGame;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use rayon::prelude::*;

use crate::array::{column, shaped, table};
use crate::game::PyGame;
use crate::number;
use crate::position::{Position, open_positions_of};
use crate::refusal::{Checked, Refusal};
use crate::threads::{self, pool, serve};

/// Fewer positions than this per thread are not worth another one for agents without search.
const MIN_PER_THREAD: usize = 4;

pub struct Question {
    pub nodes: Option<u64>,
    pub seed: u64,
    pub threads: usize,
}

/// An agent's answer to one position.
pub struct Judgement {
    pub decision: Decision,
    pub line: Vec<String>,
}

/// Asks an agent for a game whose type is not known.
pub(crate) type Judge = dyn FnMut(&[Position], &Question, &AtomicBool) -> Checked<Vec<Judgement>> + Send;

pub(crate) fn build<G: CatalogGame>(game: &G, spec: &AgentSpec) -> Checked<Box<Judge>> {
    let (game, spec, networks) = (game.clone(), spec.clone(), Networks::new());
    // One per thread; they share their networks. What is wrong with the agent is an error now.
    let mut agents = vec![build_from(game.clone(), &spec, &networks)?];
    Ok(Box::new(move |positions, question, stop| {
        let positions: Vec<G::Position> = positions.iter().map(|one| one.own::<G>()).collect();
        let shares = question.threads.min(positions.len() / MIN_PER_THREAD).max(1);
        while agents.len() < shares {
            agents.push(build_from(game.clone(), &spec, &networks)?);
        }
        let share = positions.len().div_ceil(shares).max(1);
        let parts = positions.par_chunks(share).zip(&mut agents).enumerate();
        let parts = parts.flat_map_iter(|(index, (positions, agent))| {
            judge_part(&game, agent.as_mut(), positions, index * share, question, stop)
        });
        Ok(pool().install(|| parts.collect()))
    }))
}

/// The answers to the positions from number `first` on. Their random numbers follow from the seed and the number.
fn judge_part<G: Game>(
    game: &G,
    agent: &mut dyn Player<G>,
    positions: &[G::Position],
    first: usize,
    question: &Question,
    stop: &AtomicBool,
) -> Vec<Judgement> {
    /// Positions per call, so that thousands of trees do not exist at once.
    const AT_ONCE: usize = 256;
    let mut judgements = Vec::with_capacity(positions.len());
    for (chunk, positions) in positions.chunks(AT_ONCE).enumerate() {
        let number = |index: usize| (first + chunk * AT_ONCE + index) as u64;
        let streams = (0..positions.len()).map(|index| stream(question.seed, number(index)));
        let mut streams: Vec<_> = streams.collect();
        let limit = Limit { nodes: question.nodes, stop: Some(stop), ..Limit::default() };
        for (position, decision) in positions.iter().zip(agent.decide(positions, &mut streams, limit)) {
            let line = match decision.candidates.first() {
                Some(best) => game.line_texts(*position, &best.line),
                None => vec![game.action_text(position, decision.action)],
            };
            judgements.push(Judgement { decision, line });
        }
    }
    judgements
}

/// An agent by its spec, for example ``"random"``, ``"greedy"``, ``"rollout:1000"``, ``"alphabeta:20000"``,
/// ``"trained:256"`` (the agent in the package) or ``"FILE.safetensors?sims=64"``. docs/agents.md lists them all.
#[pyclass(frozen, module = "jarmo")]
pub struct Agent {
    #[pyo3(get)]
    pub game: PyGame,
    pub spec: AgentSpec,
    judge: Mutex<Box<Judge>>,
}

impl Agent {
    fn judge(
        &self,
        positions: &Bound<'_, PyAny>,
        nodes: Option<u64>,
        seed: u64,
        threads: Option<u32>,
    ) -> PyResult<Vec<Judgement>> {
        let py = positions.py();
        let positions = open_positions_of(positions, Some(&*self.game.0))?;
        if nodes == Some(0) {
            return Err(PyValueError::new_err(
                "nodes must be at least 1; for a network without search use the setting sims=0 of its spec",
            ));
        }
        let question = Question { nodes, seed, threads: threads::count(threads) };
        let stop = Arc::default();
        let judged = serve(py, &stop, |_| {
            let mut judge = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
            judge(&positions, &question, &stop)
        });
        Ok(judged??)
    }
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (spec, *, game=PyGame::standard()), text_signature = "(spec, *, game='jarmo')")]
    fn new(py: Python<'_>, spec: &str, game: PyGame) -> PyResult<Agent> {
        let spec = spec.parse().map_err(Refusal::from)?;
        let judge = py.detach(|| game.0.agent(&spec))?;
        Ok(Agent { spec, judge: Mutex::new(judge), game })
    }

    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// An action for each of ``N`` positions, ``[N]``. ``nodes`` is the number of simulations or nodes in place of
    /// the spec's. The decision in a position depends on it, its index, the seed and the agent's kernel alone.
    #[pyo3(signature = (positions, *, nodes=None, seed=0, threads=None))]
    fn choose<'py>(
        &self,
        positions: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
        #[pyo3(from_py_with = number::SEED)] seed: u64,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = positions.py();
        let judged = self.judge(positions, nodes, seed, threads)?;
        Ok(column(py, &judged, |one| i64::from(one.decision.action.0)))
    }

    /// The agent's judgement of ``N`` positions.
    #[pyo3(signature = (positions, *, nodes=None, seed=0, threads=None))]
    fn evaluate<'py>(
        &self,
        positions: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
        #[pyo3(from_py_with = number::SEED)] seed: u64,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = positions.py();
        let judged = self.judge(positions, nodes, seed, threads)?;
        let actions = self.game.0.facts().actions;
        let judged = (
            column(py, &judged, |one| i64::from(one.decision.action.0)),
            column(py, &judged, |one| one.decision.value.expectation()),
            table(py, &judged, 3, 0.0_f32, |one, row| row.copy_from_slice(&one.decision.value.results()))?,
            table(py, &judged, actions, 0.0_f32, |one, row| {
                one.decision.candidates.iter().for_each(|one| row[one.action.index()] = one.policy);
            })?,
            table(py, &judged, actions, 0_i32, |one, row| {
                let visits = |visits| i32::try_from(visits).unwrap_or(i32::MAX);
                one.decision.candidates.iter().for_each(|one| row[one.action.index()] = visits(one.visits));
            })?,
            column(py, &judged, |one| one.decision.proven.is_some()),
            judged.into_iter().map(|one| one.line).collect::<Vec<_>>(),
        );
        py.import("jarmo._types")?.call_method1("Evaluation", judged)
    }

    /// For pickling.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((String,), Bound<'py, PyDict>)> {
        Ok(((self.spec(),), [("game", self.game.clone())].into_py_dict(py)?))
    }

    /// The tensors of the agent's network by name, ``float32``, for agents that have one; `save_agent` says what
    /// they are.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, tensor) in self.game.0.tensors(&self.spec)? {
            dict.set_item(name, shaped(py, tensor.data, &tensor.dims)?)?;
        }
        Ok(dict)
    }

    /// Writes the agent's network as an ONNX model, with the package ``onnx``. Its input is ``features``, ``[batch,
    /// inputs]``: ``game.features(positions, threats=True)``, one row per position. Its outputs are ``policy``
    /// (``[batch, actions]``, logits; mask them) and ``result`` (``[batch, 3]``, probabilities of win, draw and loss
    /// of the player to move), and in games with points ``score``.
    fn to_onnx(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let export = py.import("jarmo._onnx")?.getattr("export")?;
        export.call1((self.network(py)?, path))?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        let game = self.game.0.facts().name;
        format!("jarmo.Agent({:?}, game={game:?})", self.spec())
    }
}
