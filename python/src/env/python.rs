//! The Python class `VecEnv`.

use std::sync::Arc;
use std::time::Duration;

use jarmo_core::env::{EnvSettings, Keep, Rows};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;

use super::arrays::Layout;
use super::{AnyEnv, EnvArguments, Reset};
use crate::array::{integers, writable};
use crate::game::PyGame;
use crate::number;
use crate::players::Player;
use crate::position::{Position, open_positions_of};
use crate::threads::{self, Closable, pool, serve};

/// ``N`` games in lockstep, each in its own slot, on NumPy arrays.
///
/// The same seed gives the same games as in the Rust library, on any number of threads. No array is kept: those of a
/// step are new, or the caller's own. A call that fails changes nothing.
///
/// Args:
///     game: A game or its name.
///     num_envs: The number of games, ``N``.
///     seed: The seed of all randomness.
///     threads: The most threads to use, by default one per core. Their number changes no result.
///     max_plies: Another limit on the length of games, 0 for none.
///     autoreset: The next game of a slot begins at once, in the next step (which ignores the slot's action), or
///         when ``reset(mask=…)`` says so.
///     opponent: Who plays the other side: an agent, its spec such as ``"random"``, or a function that gets a list
///         of positions and returns an action for each. A step then ends when the caller is to move again. By default
///         the caller plays both sides in turns.
///     seat: The side of the caller in games against an opponent, drawn for each game by default.
///     random_plies: Random plies at the start of each game.
///     dtype: The type of observations.
///     packed: Masks as bits.
///     threats: Adds the planes of threats to observations.
#[pyclass(frozen, module = "jarmo")]
pub struct VecEnv {
    layout: Layout,
    #[pyo3(get)]
    threads: usize,
    arguments: Py<PyDict>, // for pickling
    env: Closable<Box<dyn AnyEnv>>,
}

impl VecEnv {
    /// Changes the games and writes the results.
    fn change<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        work: impl FnOnce(&mut dyn AnyEnv, Rows<'_>) -> PyResult<()> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.env.with(|env| {
            let changing = env.as_mut();
            let work = move |rows: Rows<'_>| match changing.stop() {
                None => py.detach(move || work(changing, rows)),
                Some(stop) => serve(py, &stop, move |_| work(changing, rows))?,
            };
            let arrays = self.layout.fill(py, out, work)?;
            self.layout.step(py, Some(env.as_ref()), arrays)
        })?
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
}

/// Reads an argument that is one of a few words.
fn word<T: DeserializeOwned>(name: &str, text: &str) -> PyResult<T> {
    let read = serde_json::from_value(text.into());
    read.map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

#[pymethods]
impl VecEnv {
    #[new]
    #[pyo3(signature = (game, num_envs, *, seed=0, threads=None, max_plies=None, autoreset="same_step", opponent=None,
                        seat=None, random_plies=0, dtype="float32", packed=false, threats=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        game: PyGame,
        #[pyo3(from_py_with = number::NUM_ENVS)] num_envs: u32,
        #[pyo3(from_py_with = number::SEED)] seed: u64,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
        #[pyo3(from_py_with = number::MAX_PLIES)] max_plies: Option<u32>,
        autoreset: &str,
        opponent: Option<Player>,
        seat: Option<&str>,
        #[pyo3(from_py_with = number::RANDOM_PLIES)] random_plies: u32,
        dtype: &str,
        packed: bool,
        threats: bool,
    ) -> PyResult<VecEnv> {
        let bytes = match dtype {
            "float32" => false,
            "uint8" => true,
            _ => {
                return Err(PyValueError::new_err(format!("dtype must be \"float32\" or \"uint8\", not {dtype:?}")));
            }
        };
        let game = match max_plies {
            Some(max_plies) => game.0.limited(max_plies),
            None => game.0,
        };
        if seat.is_some() && opponent.is_none() {
            return Err(PyValueError::new_err(
                "seat is the caller's side against an opponent; without one the caller plays both sides",
            ));
        }
        let arguments = PyDict::new(py);
        arguments.set_item("game", PyGame(game.clone()))?;
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
        let threads = threads::count(threads);
        let settings = EnvSettings {
            games: num_envs as usize,
            seed,
            threads,
            autoreset: word("autoreset", autoreset)?,
            seat: word("seat", seat.unwrap_or("random"))?,
            random_plies,
            keep: Keep { history: true, events: false },
        };
        let layout = Layout { game: game.clone(), games: settings.games, bytes, packed, threats };
        let stop = Arc::default();
        let by_function = opponent.as_ref().is_some_and(|opponent| opponent.is_function);
        let made = EnvArguments { settings, opponent, stop: Arc::clone(&stop) };
        // Only this thread may call a function.
        let env = match by_function {
            true => py.detach(|| game.env(made)),
            false => serve(py, &stop, |_| game.env(made))?,
        };
        let busy = "at work, in another thread or in a call that called this one";
        let env = Closable::new("environment", busy, env?);
        Ok(VecEnv { layout, threads, arguments: arguments.unbind(), env })
    }

    #[getter]
    fn game(&self) -> PyGame {
        PyGame(self.layout.game.clone())
    }

    #[getter]
    fn num_envs(&self) -> usize {
        self.layout.games
    }

    /// The number of actions; every action is an index below it.
    #[getter]
    fn num_actions(&self) -> usize {
        self.layout.game.facts().actions
    }

    /// The seed of all randomness, or the list of those of the slots.
    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.env.with(|env| env.seeds())?[..] {
            [seed] => Ok(seed.into_pyobject(py)?.into_any()),
            ref seeds => seeds.into_pyobject(py),
        }
    }

    /// Steps since the start.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        self.env.with(|env| env.steps())
    }

    /// ``[N]``: the caller's side against an opponent in the games to act in next, 0 for White and 1 for Black.
    /// ``Step.seat`` has the sides in the games of the last step.
    #[getter]
    fn seats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        Ok(PyArray1::from_vec(py, self.env.with(|env| env.sides())?))
    }

    /// Planes, rows and columns of one observation.
    #[getter]
    fn observation_shape(&self) -> (usize, usize, usize) {
        let [_, planes, rows, columns] = self.layout.features(0);
        (planes, rows, columns)
    }

    /// New arrays of zeros, for ``out``.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.layout.buffers(py)
    }

    /// Starts other games: all, or those where ``mask`` (``[N]``, ``bool``) is set. With a seed everything begins
    /// again, as in a new environment with that seed; with ``N`` seeds, each slot plays as an environment of one game
    /// with its seed. With ``positions``, one for each game that starts, they start from these, without random
    /// actions; ``[env.position(slot)]`` copies the game of a slot.
    #[pyo3(signature = (*, seed=Vec::new(), mask=None, positions=None, out=None),
           text_signature = "($self, *, seed=None, mask=None, positions=None, out=None)")]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number::seeds)] seed: Vec<u64>,
        mask: Option<&Bound<'py, PyAny>>,
        positions: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !seed.is_empty() && (mask.is_some() || positions.is_some()) {
            return Err(PyValueError::new_err("a seed starts all games again; give either seed or mask and positions"));
        }
        if seed.len() > 1 && seed.len() != self.layout.games {
            return Err(PyValueError::new_err(format!(
                "seed must be one number, or one for each of {} slots, not {}",
                self.layout.games,
                seed.len()
            )));
        }
        let which = match mask {
            Some(mask) => self.which(mask)?,
            None => vec![true; self.layout.games],
        };
        let positions = match positions {
            Some(positions) => open_positions_of(positions, Some(&*self.layout.game))?,
            None => Vec::new(),
        };
        let slots = (0..which.len()).filter(|&slot| which[slot]);
        let places: Vec<(usize, &Position)> = slots.clone().zip(&positions).collect();
        if !positions.is_empty() && positions.len() != slots.count() {
            return Err(PyValueError::new_err(format!(
                "positions must be as many as the games that start, not {}",
                positions.len()
            )));
        }
        let reset = match seed[..] {
            [] if positions.is_empty() => Reset::Where(&which),
            [] => Reset::At(&places),
            [seed] => Reset::Seed(seed),
            ref seeds => Reset::Seeds(seeds),
        };
        self.change(py, out, |env, rows| {
            env.reset(&reset)?;
            env.write(rows);
            Ok(())
        })
    }

    /// The results of the last step once more.
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
        self.change(py, out, |env, rows| env.step(&actions, rows))
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
        self.env.with(|env| py.detach(|| env.sample(slice)))?;
        drop(actions);
        Ok(array)
    }

    /// The position in a slot.
    fn position(&self, #[pyo3(from_py_with = number::SLOT)] slot: u32) -> PyResult<Position> {
        let (slot, games) = (slot as usize, self.layout.games);
        if slot >= games {
            return Err(PyIndexError::new_err(format!("slot {slot}: there are {games} slots")));
        }
        self.env.with(|env| env.position(slot))
    }

    /// The positions of all slots.
    fn positions(&self) -> PyResult<Vec<Position>> {
        self.env.with(|env| (0..self.layout.games).map(|slot| env.position(slot)).collect())
    }

    /// The last positions of the games that ended in the last step, by slot.
    fn final_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (slot, position) in self.env.with(|env| env.finished())? {
            dict.set_item(slot, position)?;
        }
        Ok(dict)
    }

    /// The unfinished games and the seed. Slots whose game is over, with ``autoreset`` other than ``"same_step"``,
    /// are saved without their last position.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.env.with(|env| py.detach(|| env.save()))?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Continues exactly as the saved environment would have, which must have had the same settings. The number of
    /// threads may differ.
    fn restore(&self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        Ok(self.env.with(|env| py.detach(|| env.restore(saved)))??)
    }

    /// Gives the games and their opponents back. Every other call is an error from then on.
    fn close(&self) {
        self.env.close();
    }

    fn __enter__(this: Py<VecEnv>) -> Py<VecEnv> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyAny>) {
        self.close();
    }

    /// For pickling and copying: the games go on from what ``save`` gives.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let again = py.import("jarmo._types")?.getattr("restored")?;
        let arguments = (&self.arguments, self.save(py)?);
        Ok((again, arguments).into_pyobject(py)?.into_any())
    }

    fn __len__(&self) -> usize {
        self.layout.games
    }

    fn __repr__(&self) -> String {
        let name = self.layout.game.facts().name;
        format!("jarmo.VecEnv({name:?}, {})", self.layout.games)
    }
}

/// The speed of the library's own environment in this process, without Python in the loop: ``plies_per_s``,
/// ``plies_per_cpu_s`` and the number of ``threads``. With ``observe`` features and masks are written.
#[pyfunction]
#[pyo3(signature = (game, num_envs, *, observe=true, seconds=1.0, seed=0))]
pub(crate) fn bench_env<'py>(
    py: Python<'py>,
    game: PyGame,
    #[pyo3(from_py_with = number::NUM_ENVS)] num_envs: u32,
    observe: bool,
    seconds: f64,
    #[pyo3(from_py_with = number::SEED)] seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    if !(0.0..=60.0).contains(&seconds) {
        return Err(PyValueError::new_err(format!("seconds must be 0 to 60, not {seconds}")));
    }
    let (games, time) = (num_envs as usize, Duration::from_secs_f64(seconds));
    let speed = py.detach(|| pool().install(|| game.0.bench(games, observe, seed, time)));
    let dict = PyDict::new(py);
    dict.set_item("plies_per_s", speed.plies_per_s)?;
    dict.set_item("plies_per_cpu_s", speed.plies_per_cpu_s)?;
    dict.set_item("threads", speed.threads)?;
    Ok(dict)
}
