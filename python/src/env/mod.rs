//! `jarmo.VecEnv`: the library's environment on NumPy arrays.

mod arrays;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jarmo_core::env::{EnvSettings, Keep, Rows};
use jarmo_core::game::AnyPosition;
use jarmo_exact::agent::{Networks, read_spec};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::AgentPlan;
use jarmo_facade::measure::{AnyEnv, EnvError, EnvPlan, Measure, Reset, SavedGames, on_boards, shares};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;

use crate::array::{integers, writable};
use crate::game::{PyGame, named};
use crate::number::{self, Seeds};
use crate::players::{Player, Policy, first_actions};
use crate::position::{Position, listed, open_positions_of};
use crate::refusal::Refusal;
use crate::threads::{self, Closable, pool, serve};
use arrays::Layout;

/// ``N`` games in lockstep, each in its own slot, on NumPy arrays.
///
/// The same seed gives the same games as in the Rust library, on any number of threads. The arrays of a step are new,
/// or the caller's own. A call that fails changes nothing.
///
/// Args:
///     game: A game or its name.
///     num_envs: The number of games, ``N``.
///     seed: The seed of all random numbers. By default it is a new one each time; the property ``seed`` returns it.
///     threads: The largest number of threads, by default one per core. Results do not depend on it.
///     max_plies: A move limit instead of the game's, 0 for none.
///     autoreset: When the next game of a slot begins: at once, in the next step (which ignores the slot's action), or
///         when ``reset(mask=…)`` is called.
///     opponent: The player of the other side: an agent, its spec such as ``"random"``, or a function. The function
///         gets a list of positions and returns an action for each, or gets features and masks. A step then ends when
///         the caller is to move again. By default the caller plays both sides.
///     seat: The side of the caller in games against an opponent, drawn for each game by default.
///     random_plies: Random plies at the start of each game.
///     dtype: The type of observations.
///     packed: Masks as bits.
///     threats: Adds the threat planes to observations.
///     boards: Boards of jarmo or guard with equally many lines, each a board file or ``"random:SEED"``. Each has an equal
///         part of the slots, the first board the first ones. The caller then plays both sides.
#[pyclass(frozen, module = "jarmo")]
pub struct VecEnv {
    layout: Layout,
    boards: Vec<PyGame>, // more than one if the slots have different boards
    /// The maximum number of threads.
    #[pyo3(get)]
    threads: usize,
    games: Closable<Games>,
}

/// What an environment gives back when it is closed.
struct Games {
    env: Box<dyn AnyEnv>,
    arguments: Py<PyDict>, // for pickling
    function: Option<Opponent>,
    stop: Arc<AtomicBool>, // interrupts an opponent
}

/// A function that plays the other side.
struct Opponent {
    function: Arc<Py<PyAny>>,
    failure: Arc<Mutex<Option<PyErr>>>, // its exception
}

impl Opponent {
    /// A function, and the agent that calls it in the thread that steps the environment: that of the caller, because the
    /// games are in one shard. Its exception sets `stop`.
    fn new(policy: Policy, game: &PyGame, stop: &Arc<AtomicBool>) -> (Opponent, AgentPlan) {
        let opponent = Opponent { function: policy.function.clone(), failure: Arc::default() };
        let (game, stop, failure) = (game.clone(), stop.clone(), opponent.failure.clone());
        let plan = AgentPlan::function(move |positions| {
            let chosen = Python::attach(|py| policy.ask(py, "opponent", &game, positions));
            chosen.unwrap_or_else(|error| {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                stop.store(true, Ordering::Relaxed);
                first_actions(&game, positions)
            })
        });
        (opponent, plan)
    }

    /// The exception of the function, if there was one.
    fn take_failure(&self) -> Option<PyErr> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Lets an opponent play, interrupted by exceptions and Ctrl-C.
fn with_opponent<T: Send>(
    py: Python<'_>,
    function: Option<&Opponent>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce() -> Result<T, EnvError> + Send,
) -> PyResult<T> {
    let done = match function {
        None => serve(py, stop, |_| work())?,
        // Only the thread of the caller may call a function.
        Some(_) => {
            stop.store(false, Ordering::Relaxed);
            py.detach(work)
        }
    };
    done.map_err(|error| match error {
        EnvError::Interrupted(_) => function
            .and_then(Opponent::take_failure)
            .unwrap_or_else(|| PyKeyboardInterrupt::new_err("an opponent was interrupted")),
        error => Refusal::from(error).into(),
    })
}

/// Does something on the threads of the pool, if there are shards for several.
fn on_threads<T: Send>(shards: usize, work: impl FnOnce() -> T + Send) -> T {
    if shards == 1 { work() } else { pool().install(work) }
}

impl Games {
    /// Changes the games, on the threads of the pool if there are shards for several.
    fn change(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn AnyEnv) -> Result<(), EnvError> + Send,
    ) -> PyResult<()> {
        let Games { env, function, stop, .. } = self;
        let can_be_interrupted = env.can_be_interrupted();
        let work = move || on_threads(env.shards(), || work(env.as_mut()));
        match can_be_interrupted {
            false => Ok(py.detach(work).map_err(Refusal::from)?),
            true => with_opponent(py, function.as_ref(), stop, work),
        }
    }
}

impl VecEnv {
    /// The positions that games in these slots start from, which must not be over.
    fn positions_for(&self, slots: &[usize], given: &Bound<'_, PyAny>) -> PyResult<Vec<AnyPosition>> {
        if self.boards.len() == 1 {
            return Ok(open_positions_of(given, Some(&self.layout.game))?.1);
        }
        let mut positions = Vec::new();
        for (index, one) in listed(given)?.iter().enumerate() {
            let (game, mut at) = open_positions_of(one, None)?;
            if let Some(slot) = slots.get(index).filter(|slot| game != self.game_of(**slot)) {
                return Err(PyValueError::new_err(format!("positions[{index}] is on another board than slot {slot}")));
            }
            positions.append(&mut at);
        }
        Ok(positions)
    }

    /// Changes the games and writes the results.
    fn change<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        work: impl FnOnce(&mut dyn AnyEnv, Rows<'_>) -> Result<(), EnvError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.games.with(|games| {
            let arrays = self.layout.fill(py, out, |rows| games.change(py, move |env| work(env, rows)))?;
            self.layout.step(py, Some(&*games.env), arrays)
        })?
    }

    /// Reads something of the games.
    fn read<T>(&self, read: impl FnOnce(&dyn AnyEnv) -> T) -> PyResult<T> {
        self.games.with(|games| read(&*games.env))
    }

    /// Reads a mask of slots, `[num_envs]`.
    fn which(&self, mask: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
        let games = self.layout.games;
        let array = mask.py().import("numpy")?.call_method1("asarray", (mask,)).ok();
        let array = array.and_then(|array| array.cast_into::<PyArray1<bool>>().ok());
        let array = array
            .filter(|array| array.len() == games)
            .ok_or_else(|| PyTypeError::new_err(format!("mask must be an array of bool with shape [{games}]")))?;
        Ok(array.try_readonly()?.as_array().iter().copied().collect())
    }

    /// The game in a slot.
    fn game_of(&self, slot: usize) -> PyGame {
        let shares = shares(self.layout.games, self.boards.len());
        self.boards[shares.partition_point(|first| *first <= slot) - 1].clone()
    }
}

/// The game on these boards, which must have equally many actions.
fn open_boards(game: &PyGame, boards: Vec<PathBuf>, games: usize) -> PyResult<Vec<PyGame>> {
    let facts = game.0.facts();
    let on = |board| -> PyResult<PyGame> {
        let settings = GameSettings { board: Some(board), max_plies: Some(facts.max_plies), quiet_limit: None };
        Ok(PyGame(named(facts.name, settings)?))
    };
    let opened = boards.into_iter().map(on).collect::<PyResult<Vec<PyGame>>>()?;
    let actions = |game: &PyGame| game.0.facts().version.shape;
    match opened.iter().find(|other| actions(other) != actions(&opened[0])) {
        _ if opened.is_empty() || opened.len() > games => {
            let count = opened.len();
            Err(PyValueError::new_err(format!("{count} boards for {games} games; each board has at least one game")))
        }
        None => Ok(opened),
        Some(_) => Err(PyValueError::new_err("all boards must have as many lines at each circle as the first one")),
    }
}

/// The setting with this name.
fn setting<T: DeserializeOwned>(word: &str) -> T {
    serde_json::from_value(word.into()).expect("the word is checked")
}

#[pymethods]
impl VecEnv {
    #[new]
    #[pyo3(signature = (game, num_envs, *, seed=None, threads=None, max_plies=None, autoreset="same_step", opponent=None,
                        seat=None, random_plies=0, dtype="float32", packed=false, threats=false, boards=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        game: PyGame,
        #[pyo3(from_py_with = number::NUM_ENVS)] num_envs: u32,
        #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
        #[pyo3(from_py_with = number::MAX_PLIES)] max_plies: Option<u32>,
        #[pyo3(from_py_with = number::AUTORESET)] autoreset: &'static str,
        opponent: Option<Player>,
        #[pyo3(from_py_with = number::SEAT)] seat: Option<&'static str>,
        #[pyo3(from_py_with = number::RANDOM_PLIES)] random_plies: u32,
        #[pyo3(from_py_with = number::DTYPE)] dtype: &'static str,
        #[pyo3(from_py_with = number::PACKED)] packed: bool,
        #[pyo3(from_py_with = number::THREATS)] threats: bool,
        boards: Option<Vec<PathBuf>>,
    ) -> PyResult<VecEnv> {
        let game = match max_plies {
            Some(max_plies) => PyGame(game.0.with_max_plies(max_plies)),
            None => game,
        };
        if boards.is_some() && opponent.is_some() {
            return Err(PyValueError::new_err("games on several boards have no opponent; the caller plays both sides"));
        }
        if seat.is_some() && opponent.is_none() {
            return Err(PyValueError::new_err(
                "seat is the caller's side against an opponent; without one the caller plays both sides",
            ));
        }
        let arguments = PyDict::new(py);
        arguments.set_item("game", game.clone())?;
        arguments.set_item("num_envs", num_envs)?;
        arguments.set_item("threads", threads)?;
        arguments.set_item("autoreset", autoreset)?;
        if let Some(opponent) = &opponent {
            opponent.check(&game)?;
            arguments.set_item("opponent", &*opponent.given)?;
        }
        arguments.set_item("seat", seat)?;
        arguments.set_item("random_plies", random_plies)?;
        arguments.set_item("dtype", dtype)?;
        arguments.set_item("packed", packed)?;
        arguments.set_item("threats", threats)?;
        arguments.set_item("boards", boards.clone())?;
        let boards = match boards {
            None => vec![game],
            Some(boards) => open_boards(&game, boards, num_envs as usize)?,
        };
        let game = boards[0].clone();
        let threads = threads::count(threads);
        let settings = EnvSettings {
            games: num_envs as usize,
            seed: seed.map_or_else(|| number::entropy(py), Ok)?,
            threads,
            autoreset: setting(autoreset),
            seat: setting(seat.unwrap_or("random")),
            random_plies,
            keep: Keep { history: true, events: false },
        };
        let layout = Layout { game: game.clone(), games: settings.games, bytes: dtype == "uint8", packed, threats };
        let stop = Arc::default();
        let (function, plan) = match opponent.as_ref().map(|opponent| (opponent, opponent.policy(threats))) {
            None => (None, None),
            Some((_, Some(policy))) => {
                let (function, plan) = Opponent::new(policy, &game, &stop);
                (Some(function), Some(plan))
            }
            Some((agent, None)) => {
                let spec = read_spec(&agent.name).map_err(Refusal::from)?;
                (None, Some(AgentPlan::new(spec, agent.networks(&Networks::new()))))
            }
        };
        let env = if boards.len() == 1 {
            let plan = EnvPlan { settings, opponent: plan, stop: Arc::clone(&stop) };
            with_opponent(py, function.as_ref(), &stop, move || game.0.env(plan))?
        } else {
            let games: Vec<&dyn Measure> = boards.iter().map(|game| &*game.0 as &dyn Measure).collect();
            on_boards(&games, settings, &stop).map_err(Refusal::from)?
        };
        let busy = "at work, in another thread or in a call that called this one";
        let games = Games { env, arguments: arguments.unbind(), function, stop };
        Ok(VecEnv { layout, boards, threads, games: Closable::new("environment", busy, games) })
    }

    /// The rules of the games; with several boards, those of the first slot.
    #[getter]
    fn game(&self) -> PyGame {
        self.layout.game.clone()
    }

    /// The number of games, ``N``.
    #[getter]
    fn num_envs(&self) -> usize {
        self.layout.games
    }

    /// The number of actions; every action is an index below it.
    #[getter]
    fn num_actions(&self) -> usize {
        self.layout.game.0.facts().version.shape.actions
    }

    /// The seed of all random numbers, or the list of the slots' seeds.
    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.read(|env| env.seeds())?[..] {
            [seed] => Ok(seed.into_pyobject(py)?.into_any()),
            ref seeds => seeds.into_pyobject(py),
        }
    }

    /// Steps since the start.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        self.read(|env| env.steps())
    }

    /// ``[N]``: the caller's side against an opponent in the games to act in next, 0 for White and 1 for Black.
    /// ``Step.seat`` has the sides in the games of the last step.
    #[getter]
    fn seats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let sides = self.read(|env| env.sides())?;
        Ok(PyArray1::from_iter(py, sides.into_iter().map(|side| side.index() as i8)))
    }

    /// Planes, rows and columns of one observation.
    #[getter]
    fn observation_shape(&self) -> (usize, usize, usize) {
        let [_, planes, rows, columns] = self.layout.features(0);
        (planes, rows, columns)
    }

    /// Gymnasium's space of one observation. Gymnasium is imported only here and in `single_action_space`.
    #[getter]
    fn single_observation_space<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let entries = if self.layout.bytes { "uint8" } else { "float32" };
        py.import("gymnasium.spaces")?.call_method1("Box", (0, 1, self.observation_shape(), entries))
    }

    /// Gymnasium's space of one action.
    #[getter]
    fn single_action_space<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("gymnasium.spaces")?.call_method1("Discrete", (self.num_actions(),))
    }

    /// New arrays of zeros, for ``out``.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.layout.buffers(py)
    }

    /// Starts new games in all slots, or where ``mask`` (``[N]``, ``bool``) is set. The first reset of a new
    /// environment keeps the games of its seed. With a seed, everything begins again as in a new environment with that
    /// seed. With ``N`` seeds, each slot plays like an environment of one game with its seed. ``positions`` has a
    /// position for each new game, which starts there without random plies; ``[env.position(slot)]`` copies the game of
    /// a slot.
    #[pyo3(signature = (*, seed=Seeds::None, mask=None, positions=None, out=None),
           text_signature = "($self, *, seed=None, mask=None, positions=None, out=None)")]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number::seeds)] seed: Seeds,
        mask: Option<&Bound<'py, PyAny>>,
        positions: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !matches!(seed, Seeds::None) && (mask.is_some() || positions.is_some()) {
            return Err(PyValueError::new_err("a seed starts all games again; give either seed or mask and positions"));
        }
        if let Seeds::Each(seeds) = &seed
            && seeds.len() != self.layout.games
        {
            return Err(PyValueError::new_err(format!(
                "seed must be one number, or one for each of {} slots, not {}",
                self.layout.games,
                seeds.len()
            )));
        }
        let which = match mask {
            Some(mask) => self.which(mask)?,
            None => vec![true; self.layout.games],
        };
        let slots: Vec<usize> = (0..which.len()).filter(|&slot| which[slot]).collect();
        let places: Vec<(usize, AnyPosition)> = match positions {
            None => Vec::new(),
            Some(positions) => {
                let positions = self.positions_for(&slots, positions)?;
                if positions.len() != slots.len() {
                    return Err(PyValueError::new_err(format!(
                        "positions must be as many as the games that start, not {}",
                        positions.len()
                    )));
                }
                slots.into_iter().zip(positions).collect()
            }
        };
        let reset = match &seed {
            Seeds::None if mask.is_none() && places.is_empty() => Reset::All,
            Seeds::None if places.is_empty() => Reset::Where(&which),
            Seeds::None => Reset::At(&places),
            Seeds::One(seed) => Reset::Seed(*seed),
            Seeds::Each(seeds) => match seeds[..] {
                [seed] => Reset::Seed(seed),
                _ => Reset::Seeds(seeds),
            },
        };
        self.change(py, out, |env, rows| {
            env.reset(&reset)?;
            env.write(rows);
            Ok(())
        })
    }

    /// The results of the last step again.
    #[pyo3(signature = (*, out=None))]
    fn observe<'py>(&self, py: Python<'py>, out: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        self.change(py, out, |env, rows| {
            env.write(rows);
            Ok(())
        })
    }

    /// Plays one action in every game.
    ///
    /// Args:
    ///     actions: ``[N]``, any integer type. -1 is no action, where the game is over.
    ///     out: Arrays to write into, as ``buffers()`` makes them; only ``finished`` and ``final_observation`` of the
    ///         result are new then.
    ///
    /// Raises:
    ///     ValueError: An action is illegal or its game is over; the message names the slot and the reason.
    ///     TypeError: An argument has the wrong type.
    #[pyo3(signature = (actions, *, out=None))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let actions = integers(actions, "actions", self.layout.games)?;
        self.change(py, out, |env, rows| {
            env.choose(&actions, 0)?;
            env.step(rows)
        })
    }

    /// A legal action for every game, uniformly at random: ``[N]``, -1 where the game is over. Repeated calls give
    /// the same actions until the next step.
    #[pyo3(signature = (*, out=None))]
    fn sample_actions<'py>(&self, py: Python<'py>, out: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let games = self.layout.games;
        let array = match out {
            Some(out) => out.clone(),
            None => PyArray1::<i64>::zeros(py, games, false).into_any(),
        };
        let mut actions = writable::<i64>(&array, &"out", &[games])?;
        let slice = actions.as_slice_mut().expect("checked to be contiguous");
        self.read(|env| py.detach(|| on_threads(env.shards(), || env.sample(slice))))?;
        drop(actions);
        Ok(array)
    }

    /// The position in a slot.
    fn position(&self, #[pyo3(from_py_with = number::SLOT)] slot: u32) -> PyResult<Position> {
        let (slot, games) = (slot as usize, self.layout.games);
        if slot >= games {
            return Err(PyIndexError::new_err(format!("slot {slot}: there are {games} slots")));
        }
        let at = self.read(|env| env.position(slot))?;
        Ok(Position { game: self.game_of(slot), at })
    }

    /// The positions of all slots.
    fn positions(&self) -> PyResult<Vec<Position>> {
        let position = |env: &dyn AnyEnv, slot| Position { game: self.game_of(slot), at: env.position(slot) };
        self.read(|env| (0..self.layout.games).map(|slot| position(env, slot)).collect())
    }

    /// The last positions of the games that ended in the last step, by slot.
    fn final_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let (slots, positions) = self.read(|env| (env.finished(), env.final_positions()))?;
        for (slot, at) in slots.into_iter().zip(positions) {
            dict.set_item(slot, Position { game: self.game_of(slot), at })?;
        }
        Ok(dict)
    }

    /// The unfinished games and the seed. Slots whose game is over, with ``autoreset`` other than ``"same_step"``,
    /// are saved without their last position.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved =
            self.read(|env| py.detach(|| env.save().map(|saved| serde_json::to_vec(&saved).expect("plain data"))))?;
        Ok(PyBytes::new(py, &saved.map_err(Refusal::from)?))
    }

    /// Continues exactly as the saved environment would have. It must have had the same settings, except the number of
    /// threads.
    fn restore(&self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        let wrong = |error| PyValueError::new_err(format!("not a saved environment: {error}"));
        let saved: Vec<SavedGames> = serde_json::from_slice(saved).map_err(wrong)?;
        Ok(self.games.with(|games| py.detach(|| games.env.restore(&saved)))?.map_err(Refusal::from)?)
    }

    /// Frees the games and their opponents, after a call that is running in another thread has ended. An opponent
    /// cannot close its own environment. After closing, every other call is an error.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.games.close(py)
    }

    fn __enter__(this: Py<VecEnv>) -> Py<VecEnv> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(exception.py())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.games.traverse(|Games { arguments, function, .. }| {
            visit.call(arguments)?;
            function.as_ref().map_or(Ok(()), |opponent| visit.call(&*opponent.function))
        })
    }

    fn __clear__(&self) {
        self.games.give_back();
    }

    /// For pickling and copying: the games continue from the result of ``save``.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let again = py.import("jarmo._types")?.getattr("restored")?;
        let made = self.games.with(|games| games.arguments.clone_ref(py))?;
        Ok((again, (made, self.save(py)?)).into_pyobject(py)?.into_any())
    }

    fn __len__(&self) -> usize {
        self.layout.games
    }

    fn _repr_html_<'py>(slf: &Bound<'py, VecEnv>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("jarmo._notebook")?.call_method1("games", (slf,))
    }

    fn __repr__(&self) -> String {
        let name = self.layout.game.0.facts().name;
        format!("jarmo.VecEnv({name:?}, {})", self.layout.games)
    }
}

/// The speed of the library's own environment in this process, without Python in the loop: ``plies_per_s``,
/// ``plies_per_cpu_s`` and the number of ``threads``. With ``observe`` features and masks are written.
#[pyfunction]
#[pyo3(signature = (game, num_envs, *, observe=true, seconds=1.0, seed=None))]
pub(crate) fn bench_env<'py>(
    py: Python<'py>,
    game: PyGame,
    #[pyo3(from_py_with = number::NUM_ENVS)] num_envs: u32,
    observe: bool,
    seconds: f64,
    #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    if !(0.0..=60.0).contains(&seconds) {
        return Err(PyValueError::new_err(format!("seconds must be 0 to 60, not {seconds}")));
    }
    let seed = seed.map_or_else(|| number::entropy(py), Ok)?;
    let (games, time) = (num_envs as usize, Duration::from_secs_f64(seconds));
    let speed = py.detach(|| pool().install(|| game.0.bench_env(games, observe, seed, time.into())));
    let dict = PyDict::new(py);
    dict.set_item("plies_per_s", speed.plies_per_s)?;
    dict.set_item("plies_per_cpu_s", speed.plies_per_cpu_s)?;
    dict.set_item("threads", speed.threads)?;
    Ok(dict)
}
