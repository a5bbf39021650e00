//! `jarmo.Agent`: who plays, by its spec.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use jarmo_core::game::Game;
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent as Player, AgentSpec, Decision, Limit, Networks, Request, build_from};
use jarmo_exact::catalog::CatalogGame;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use rayon::prelude::*;

use crate::array::shaped;
use crate::game::{PyGame, Rules};
use crate::network::{self, Tensors};
use crate::number;
use crate::position::{Position, open_positions_of};
use crate::refusal::Checked;
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

/// An agent for a game whose type is not known.
pub trait AnyAgent: Send {
    fn spec(&self) -> String;
    fn tensors(&self) -> Checked<Tensors>;
    fn judge(&mut self, positions: &[&Position], question: &Question, stop: &AtomicBool) -> Checked<Vec<Judgement>>;
}

/// One agent per thread. They share their networks.
struct Agents<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    spec: AgentSpec,
    networks: Networks,
    agents: Vec<Box<dyn Player<G>>>,
}

pub(crate) fn build<G: CatalogGame>(rules: Arc<Rules<G>>, spec: &str) -> Checked<Box<dyn AnyAgent>> {
    let spec: AgentSpec = spec.parse()?;
    let mut agents = Agents { rules, spec, networks: Networks::new(), agents: Vec::new() };
    agents.provide(1)?; // what is wrong with the agent is an error now
    Ok(Box::new(agents))
}

impl<G: CatalogGame> Agents<G> {
    fn provide(&mut self, count: usize) -> Checked<()> {
        while self.agents.len() < count {
            let game = self.rules.game.clone();
            self.agents.push(build_from(game, &self.spec, &self.networks)?);
        }
        Ok(())
    }
}

impl<G: CatalogGame> AnyAgent for Agents<G> {
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    fn tensors(&self) -> Checked<Tensors> {
        network::of_agent(&self.rules.game, &self.spec)
    }

    fn judge(&mut self, positions: &[&Position], question: &Question, stop: &AtomicBool) -> Checked<Vec<Judgement>> {
        let positions: Vec<G::Position> = positions.iter().map(|one| one.own::<G>()).collect();
        let shares = question.threads.min(positions.len() / MIN_PER_THREAD).max(1);
        self.provide(shares)?;
        let share = positions.len().div_ceil(shares).max(1);
        let game = &self.rules.game;
        let parts = positions.par_chunks(share).zip(&mut self.agents).enumerate();
        let parts = parts.flat_map_iter(|(index, (positions, agent))| {
            judge_part(game, agent.as_mut(), positions, index * share, question, stop)
        });
        Ok(pool().install(|| parts.collect()))
    }
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
        let requests = positions.iter().zip(&mut streams);
        let mut requests: Vec<Request<'_, G>> =
            requests.map(|(&position, stream)| Request { position, stream, limit, memory: None }).collect();
        for (position, decision) in positions.iter().zip(agent.choose(&mut requests)) {
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
    #[pyo3(get)]
    pub spec: String,
    agents: Mutex<Box<dyn AnyAgent>>,
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
        let positions = open_positions_of(&self.game.0, positions)?;
        if nodes == Some(0) {
            return Err(PyValueError::new_err(
                "nodes must be at least 1; for a network without search use the setting sims=0 of its spec",
            ));
        }
        let question = Question { nodes, seed, threads: threads::count(threads) };
        let open: Vec<&Position> = positions.iter().map(Bound::get).collect();
        let stop = Arc::default();
        let judged = serve(py, &stop, |_| {
            let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
            agents.judge(&open, &question, &stop)
        });
        Ok(judged??)
    }
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (spec, *, game=PyGame::standard()), text_signature = "(spec, *, game='jarmo')")]
    fn new(py: Python<'_>, spec: &str, game: PyGame) -> PyResult<Agent> {
        let agents = py.detach(|| game.0.clone().agent(spec))?;
        Ok(Agent { spec: agents.spec(), agents: Mutex::new(agents), game })
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
        let actions = judged.iter().map(|one| i64::from(one.decision.action.0));
        shaped(py, actions.collect(), &[judged.len()])
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
        let (count, actions) = (judged.len(), self.game.0.facts().actions);
        let mut chosen = Vec::with_capacity(count);
        let mut values = Vec::with_capacity(count);
        let mut results = Vec::with_capacity(3 * count);
        let mut policies = vec![0.0_f32; count * actions];
        let mut visits = vec![0_i32; count * actions];
        let mut proven = Vec::with_capacity(count);
        let mut lines = Vec::with_capacity(count);
        for (row, Judgement { decision, line }) in judged.into_iter().enumerate() {
            chosen.push(i64::from(decision.action.0));
            values.push(decision.value.expectation());
            results.extend(decision.value.results());
            proven.push(decision.proven.is_some());
            for candidate in &decision.candidates {
                let place = row * actions + candidate.action.index();
                policies[place] = candidate.policy;
                visits[place] = i32::try_from(candidate.visits).unwrap_or(i32::MAX);
            }
            lines.push(line);
        }
        let judged = (
            shaped(py, chosen, &[count])?,
            shaped(py, values, &[count])?,
            shaped(py, results, &[count, 3])?,
            shaped(py, policies, &[count, actions])?,
            shaped(py, visits, &[count, actions])?,
            shaped(py, proven, &[count])?,
            lines,
        );
        py.import("jarmo._types")?.call_method1("Evaluation", judged)
    }

    /// For pickling.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((&str,), Bound<'py, PyDict>)> {
        Ok(((&self.spec,), [("game", self.game.clone())].into_py_dict(py)?))
    }

    /// The tensors of the agent's network by name, ``float32``, for agents that have one; `save_agent` says what
    /// they are.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let dict = PyDict::new(py);
        for (name, tensor) in agents.tensors()? {
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
        format!("jarmo.Agent({:?}, game={game:?})", self.spec)
    }
}
