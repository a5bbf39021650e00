//! `jarmo.Agent`: who plays, by its spec.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jarmo_core::game::AnyPosition;
use jarmo_core::net::{AgentFile, FrozenNet, KernelKind, Tensor};
use jarmo_core::random::{Draws, Stream, stream};
use jarmo_exact::agent::{AgentSpec, Decision, Limit, Networks, read_spec};
use jarmo_facade::selfplay::Net;
use jarmo_facade::{AgentPlan, AnyAgent, AnyGame, AnyRequest};
use numpy::IntoPyArray;
use numpy::ndarray::Array;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::array::{column, table};
use crate::game::PyGame;
use crate::network::write;
use crate::number;
use crate::players::check_game;
use crate::position::open_positions_of;
use crate::refusal::{Checked, Refusal};
use crate::threads::{self, lock_unless, pool, serve};

/// Mixed with the seed of an agent for those of its calls.
const SEEDS: u64 = 0x7365_6564_735f_5f5f;

/// Fewer positions than this per thread are not worth another one for agents without search.
const MIN_PER_THREAD: usize = 4;

/// Agents of one spec, one per thread.
struct Team {
    plan: AgentPlan,
    agents: Vec<Box<dyn AnyAgent>>,
}

impl Team {
    /// What is wrong with the agent is an error now.
    fn new(game: &dyn AnyGame, spec: &AgentSpec, networks: &Networks) -> Checked<Team> {
        let plan = AgentPlan::new(spec.clone(), networks);
        Ok(Team { agents: vec![game.agent(&plan)?], plan })
    }

    /// The answers in some positions. Their random numbers follow from the seed and the index of a position.
    fn judge(
        &mut self,
        game: &dyn AnyGame,
        positions: &[AnyPosition],
        seed: u64,
        threads: usize,
        limit: Limit<'_>,
    ) -> Checked<Vec<Judgement>> {
        /// Positions per call of an agent, so that thousands of trees do not exist at once.
        const AT_ONCE: usize = 256;
        let Team { plan, agents } = self;
        let shares = threads.min(positions.len() / MIN_PER_THREAD).max(1);
        while agents.len() < shares {
            agents.push(game.agent(plan)?);
        }
        let share = positions.len().div_ceil(shares).max(1);
        let judge_part = |(part, (positions, agent)): (usize, (&[AnyPosition], &mut Box<dyn AnyAgent>))| {
            let mut judgements = Vec::with_capacity(positions.len());
            for (chunk, positions) in positions.chunks(AT_ONCE).enumerate() {
                let numbers = (share * part + AT_ONCE * chunk) as u64..;
                let mut streams: Vec<Stream> =
                    numbers.take(positions.len()).map(|number| stream(seed, number)).collect();
                let requests = positions.iter().zip(&mut streams);
                let requests = requests.map(|(position, stream)| AnyRequest { position, stream, limit, memory: None });
                let decisions = agent.choose(requests.collect()).into_iter().zip(positions);
                judgements.extend(decisions.map(|(decision, position)| Judgement::new(game, position, decision)));
            }
            judgements
        };
        let parts = positions.par_chunks(share).zip(agents).enumerate();
        Ok(pool().install(|| parts.flat_map_iter(judge_part).collect()))
    }
}

/// An agent's answer to one position.
struct Judgement {
    decision: Decision,
    line: Vec<String>,
}

impl Judgement {
    fn new(game: &dyn AnyGame, position: &AnyPosition, decision: Decision) -> Judgement {
        let line = match decision.candidates.first() {
            Some(best) => game.line_texts(position, &best.line),
            None => vec![game.action_text(position, decision.action)],
        };
        Judgement { decision, line }
    }
}

/// An agent by its spec, for example ``"random"``, ``"greedy"``, ``"rollout:1000"``, ``"alphabeta:20000"``,
/// ``"trained:256"`` (the agent in the package) or ``"FILE.safetensors?sims=64"``. docs/agents.md lists them all.
/// ``seed`` is the seed of its random numbers, which continue from call to call. By default it is a new one each time.
#[pyclass(frozen, module = "jarmo")]
pub struct Agent {
    /// The rules of its game.
    #[pyo3(get)]
    pub game: PyGame,
    pub spec: AgentSpec,
    /// Its network, for players that are made of it: the file may change later.
    pub(crate) networks: Networks,
    file: Option<AgentFile>, // as it was loaded
    net: Mutex<Option<Net>>, // of the file, once a search has used it
    team: Mutex<Team>,
    seed: u64,
    drawn: AtomicU64, // calls without a seed of their own
}

impl Agent {
    /// Its network, to search with in this game.
    pub(crate) fn net(&self, game: &PyGame) -> PyResult<Net> {
        check_game(&self.spec(), &self.game, game)?;
        let (AgentSpec::Network(_, settings), Some(file)) = (&self.spec, &self.file) else {
            return Err(PyValueError::new_err(format!("evaluate: agent `{}` has no network", self.spec)));
        };
        let kernel = settings.kernel.unwrap_or_else(KernelKind::best);
        let mut net = self.net.lock().unwrap_or_else(PoisonError::into_inner);
        let net = net.get_or_insert_with(|| FrozenNet::with_kernel(file.weights(), kernel).into());
        Ok(net.clone())
    }

    /// The agent file of its network.
    fn file(&self) -> Checked<&AgentFile> {
        self.file.as_ref().ok_or_else(|| format!("agent `{}` has no network", self.spec).into())
    }

    fn judge(
        &self,
        positions: &Bound<'_, PyAny>,
        nodes: Option<u64>,
        seed: Option<u64>,
        threads: Option<u32>,
    ) -> PyResult<Vec<Judgement>> {
        let py = positions.py();
        let (PyGame(game), positions) = open_positions_of(positions, Some(&self.game))?;
        if nodes == Some(0) {
            return Err(PyValueError::new_err(
                "nodes must be at least 1; for a network without search use the setting sims=0 of its spec",
            ));
        }
        let next = || Draws::new(self.seed, SEEDS).bits(self.drawn.fetch_add(1, Ordering::Relaxed));
        let (seed, threads, stop) = (seed.unwrap_or_else(next), threads::count(threads), Arc::default());
        // Another thread may be asking; whoever waits for it can be interrupted, too.
        let judged = serve(py, &stop, |_| {
            let limit = Limit { nodes, stop: Some(&stop), ..Limit::default() };
            let team = lock_unless(&stop, &self.team);
            team.map_or(Ok(Vec::new()), |mut team| team.judge(&*game, &positions, seed, threads, limit))
        });
        Ok(judged??)
    }
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (spec, *, game=PyGame::standard(), seed=None),
           text_signature = "(spec, *, game='jarmo', seed=None)")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = number::SPEC)] spec: String,
        game: PyGame,
        #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
    ) -> PyResult<Agent> {
        let spec = read_spec(&spec).map_err(Refusal::from)?;
        let networks = Networks::new();
        let (team, file) = py.detach(|| -> Checked<(Team, Option<AgentFile>)> {
            let team = Team::new(&*game.0, &spec, &networks)?;
            let file = match &spec {
                AgentSpec::Network(source, _) => Some(game.0.load(source)?),
                _ => None,
            };
            Ok((team, file))
        })?;
        let seed = seed.map_or_else(|| number::entropy(py), Ok)?;
        let (net, team, drawn) = (Mutex::default(), Mutex::new(team), AtomicU64::new(0));
        Ok(Agent { game, spec, networks, file, net, team, seed, drawn })
    }

    /// The spec, in full.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// An action for each of ``N`` positions, ``[N]``. ``nodes`` replaces the spec's number of simulations or nodes.
    /// The decision in a position depends only on the position, its index, the seed and the agent's kernel. Without a
    /// seed, each call derives a new one from the agent's.
    #[pyo3(signature = (positions, *, nodes=None, seed=None, threads=None))]
    fn choose<'py>(
        &self,
        positions: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
        #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = positions.py();
        let judged = self.judge(positions, nodes, seed, threads)?;
        Ok(column(py, &judged, |one| i64::from(one.decision.action.0)))
    }

    /// The agent's judgement of ``N`` positions.
    #[pyo3(signature = (positions, *, nodes=None, seed=None, threads=None))]
    fn evaluate<'py>(
        &self,
        positions: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
        #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = positions.py();
        let judged = self.judge(positions, nodes, seed, threads)?;
        let actions = self.game.0.facts().version.shape.actions;
        let judged = (
            column(py, &judged, |one| i64::from(one.decision.action.0)),
            column(py, &judged, |one| one.decision.value.expectation()),
            table(py, &judged, 3, 0.0_f32, |one, row| row.copy_from_slice(&one.decision.value.results())),
            table(py, &judged, actions, 0.0_f32, |one, row| {
                one.decision.candidates.iter().for_each(|one| row[one.action.index()] = one.policy);
            }),
            table(py, &judged, actions, 0_i32, |one, row| {
                let visits = |visits| i32::try_from(visits).unwrap_or(i32::MAX);
                one.decision.candidates.iter().for_each(|one| row[one.action.index()] = visits(one.visits));
            }),
            column(py, &judged, |one| one.decision.proven.is_some()),
            judged.into_iter().map(|one| one.line).collect::<Vec<_>>(),
        );
        py.import("jarmo._types")?.call_method1("Evaluation", judged)
    }

    /// For pickling.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((String,), Bound<'py, PyDict>)> {
        let settings = PyDict::new(py);
        settings.set_item("game", self.game.clone())?;
        settings.set_item("seed", self.seed)?;
        Ok(((self.spec(),), settings))
    }

    fn __getstate__(&self) -> u64 {
        self.drawn.load(Ordering::Relaxed)
    }

    fn __setstate__(&self, drawn: u64) {
        self.drawn.store(drawn, Ordering::Relaxed);
    }

    /// The tensors of the agent's network by name, ``float32``, if it has one. `save_agent` describes them.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, Tensor { dims, data }) in self.file()?.weights().tensors() {
            let array = Array::from_shape_vec(dims.clone(), data.clone()).expect("one number per cell");
            dict.set_item(name, array.into_pyarray(py))?;
        }
        Ok(dict)
    }

    /// Writes the agent's network as an agent file, whose name ends in ``.safetensors``.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let file = self.file()?;
        Ok(py.detach(|| write(file, &path))?)
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

    fn _repr_html_<'py>(slf: &Bound<'py, Agent>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("jarmo._notebook")?.call_method1("agent", (slf,))
    }

    fn __repr__(&self) -> String {
        let game = match self.game.is_standard() {
            true => format!("{:?}", self.game.0.facts().name),
            false => self.game.to_string(),
        };
        format!("jarmo.Agent({:?}, game={game})", self.spec())
    }
}
