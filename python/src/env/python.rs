//! The Python class `VecEnv`.

use std::sync::Arc;
use std::time::Duration;

use jarmo_core::env::{EnvSettings, Features, Keep, Masks, Rows};
use jarmo_selfplay::bench::EnvWork;
use numpy::ndarray::{Ix1, Ix2, Ix4};
use numpy::{PyArray1, PyArray2, PyArray4, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use serde::de::DeserializeOwned;

use super::{AnyEnv, EnvArguments};
use crate::array::{integers, shaped, writable};
use crate::game::{AnyGame, GameArgument, PyGame};
use crate::position::Position;
use crate::threads::{self, pool};

/// The most games of an environment.
const MOST_GAMES: usize = 1 << 24;

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
///     opponent: The spec of an agent that plays the other side, such as ``"random"``; a step then ends when the
///         caller is to move again. By default the caller plays both sides in turns.
///     learner: The side of the caller in games against an opponent; ``"random"`` draws it for each game.
///     opening_plies: Random actions at the start of each game.
///     dtype: The type of observations.
///     packed: Masks as bits.
///     threats: Adds the planes of threats to observations.
#[pyclass(module = "jarmo")]
pub struct VecEnv {
    game: Arc<dyn AnyGame>,
    env: Box<dyn AnyEnv>,
    games: usize,
    threads: usize,
    bytes: bool,  // features as uint8
    packed: bool, // masks as bits
    threats: bool,
}

/// The names of the fields of `Step` that a step writes, in their order.
const FIELDS: [&str; 6] = [
    "observation",
    "mask",
    "reward",
    "terminated",
    "truncated",
    "to_move",
];

impl VecEnv {
    fn feature_shape(&self, games: usize) -> [usize; 4] {
        self.game.facts().shape(games, self.threats)
    }

    fn mask_width(&self) -> usize {
        let actions = self.game.facts().actions;
        match self.packed {
            true => actions.div_ceil(8),
            false => actions,
        }
    }

    /// New arrays of zeros for everything that a step writes.
    fn zeros<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        let games = self.games;
        let features = self.feature_shape(games);
        let masks = [games, self.mask_width()];
        vec![
            match self.bytes {
                true => PyArray4::<u8>::zeros(py, features, false).into_any(),
                false => PyArray4::<f32>::zeros(py, features, false).into_any(),
            },
            match self.packed {
                true => PyArray2::<u8>::zeros(py, masks, false).into_any(),
                false => PyArray2::<bool>::zeros(py, masks, false).into_any(),
            },
            PyArray2::<f32>::zeros(py, [games, 2], false).into_any(),
            PyArray1::<bool>::zeros(py, games, false).into_any(),
            PyArray1::<bool>::zeros(py, games, false).into_any(),
            PyArray1::<i8>::zeros(py, games, false).into_any(),
        ]
    }

    /// The arrays to write, in the order of `FIELDS`: new ones, or those of the caller.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let Some(out) = out else {
            return Ok(self.zeros(py));
        };
        FIELDS
            .iter()
            .map(|field| {
                out.getattr(*field).map_err(|_| {
                    PyTypeError::new_err(format!(
                        "out has no array `{field}`; VecEnv.buffers() makes one with all arrays"
                    ))
                })
            })
            .collect()
    }

    /// Writes into the arrays: `work` gets them as slices, with Python's lock released.
    fn fill<'py>(
        &mut self,
        py: Python<'py>,
        arrays: &[Bound<'py, PyAny>],
        zeroed: bool,
        work: impl FnOnce(&mut dyn AnyEnv, Rows<'_>) + Send,
    ) -> PyResult<()> {
        let games = self.games;
        let features = self.feature_shape(games);
        let masks = [games, self.mask_width()];
        let [observation, mask] = ["out.observation", "out.mask"];
        let (mut floats, mut bytes, mut bools, mut packed) = (None, None, None, None);
        match self.bytes {
            true => bytes = Some(writable::<u8, Ix4>(&arrays[0], observation, &features)?),
            false => floats = Some(writable::<f32, Ix4>(&arrays[0], observation, &features)?),
        }
        match self.packed {
            true => packed = Some(writable::<u8, Ix2>(&arrays[1], mask, &masks)?),
            false => bools = Some(writable::<bool, Ix2>(&arrays[1], mask, &masks)?),
        }
        let mut rewards = writable::<f32, Ix2>(&arrays[2], "out.reward", &[games, 2])?;
        let mut terminated = writable::<bool, Ix1>(&arrays[3], "out.terminated", &[games])?;
        let mut truncated = writable::<bool, Ix1>(&arrays[4], "out.truncated", &[games])?;
        let mut to_move = writable::<i8, Ix1>(&arrays[5], "out.to_move", &[games])?;
        let contiguous = "checked above";
        let features = match (&mut floats, &mut bytes) {
            (Some(floats), _) => Features::Float(floats.as_slice_mut().expect(contiguous)),
            (None, Some(bytes)) => Features::Byte(bytes.as_slice_mut().expect(contiguous)),
            (None, None) => unreachable!("one of the two types"),
        };
        let masks = match (&mut bools, &mut packed) {
            (Some(bools), _) => Masks::Bool(bools.as_slice_mut().expect(contiguous)),
            (None, Some(packed)) => Masks::Packed(packed.as_slice_mut().expect(contiguous)),
            (None, None) => unreachable!("one of the two types"),
        };
        let rows = Rows {
            features,
            masks,
            rewards: rewards.as_slice_mut().expect(contiguous),
            terminated: terminated.as_slice_mut().expect(contiguous),
            truncated: truncated.as_slice_mut().expect(contiguous),
            to_move: to_move.as_slice_mut().expect(contiguous),
            threats: self.threats,
            zeroed,
        };
        let env = &mut *self.env;
        py.detach(move || work(env, rows));
        Ok(())
    }

    /// The result of a step as `jarmo.Step`, with what ended in it.
    fn result<'py>(
        &self,
        py: Python<'py>,
        mut arrays: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let slots = self.env.finished_slots();
        let count = slots.len();
        let shape = self.feature_shape(count);
        let width = self.game.facts().width(self.threats);
        let last = match self.bytes {
            true => {
                let mut features = vec![0_u8; count * width];
                self.env
                    .write_finished(Features::Byte(&mut features), self.threats);
                shaped(py, features, &shape)?
            }
            false => {
                let mut features = vec![0.0_f32; count * width];
                self.env
                    .write_finished(Features::Float(&mut features), self.threats);
                shaped(py, features, &shape)?
            }
        };
        arrays.push(shaped(py, slots, &[count])?);
        arrays.push(last);
        let class = py.import("jarmo._types")?.getattr("Step")?;
        class.call1(PyTuple::new(py, arrays)?)
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
                        learner="random", opening_plies=0, dtype="float32", packed=false, threats=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        game: GameArgument,
        num_envs: usize,
        seed: u64,
        threads: Option<usize>,
        max_plies: Option<u32>,
        autoreset: &str,
        opponent: Option<String>,
        learner: &str,
        opening_plies: u32,
        dtype: &str,
        packed: bool,
        threats: bool,
    ) -> PyResult<VecEnv> {
        if !(1..=MOST_GAMES).contains(&num_envs) {
            return Err(PyValueError::new_err(format!(
                "num_envs must be 1 to {MOST_GAMES}, not {num_envs}"
            )));
        }
        let bytes = match dtype {
            "float32" => false,
            "uint8" => true,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "dtype must be \"float32\" or \"uint8\", not {dtype:?}"
                )));
            }
        };
        let game = match max_plies {
            Some(max_plies) => game.0.limited(max_plies),
            None => game.0,
        };
        let threads = threads::count(threads)?;
        let settings = EnvSettings {
            games: num_envs,
            seed,
            threads,
            autoreset: word("autoreset", autoreset)?,
            seat: word("learner", learner)?,
            opening_plies,
            keep: Keep {
                history: true,
                events: false,
            },
        };
        let arguments = EnvArguments { settings, opponent };
        let env = py.detach(|| game.clone().env(arguments));
        Ok(VecEnv {
            env: env.map_err(PyValueError::new_err)?,
            game,
            games: num_envs,
            threads,
            bytes,
            packed,
            threats,
        })
    }

    #[getter]
    fn game(&self) -> PyGame {
        PyGame(self.game.clone())
    }

    #[getter]
    fn num_envs(&self) -> usize {
        self.games
    }

    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.env.seed()
    }

    /// Steps since the start.
    #[getter]
    fn steps(&self) -> u64 {
        self.env.steps()
    }

    /// ``[N]``: the caller's side against an opponent, 0 for White and 1 for Black.
    #[getter]
    fn learner_sides<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i8>> {
        PyArray1::from_vec(py, self.env.sides())
    }

    /// Planes, rows and columns of one observation.
    #[getter]
    fn observation_shape(&self) -> (usize, usize, usize) {
        let [_, planes, rows, columns] = self.feature_shape(0);
        (planes, rows, columns)
    }

    /// New arrays of zeros, for ``out``.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut arrays = self.zeros(py);
        arrays.push(shaped(py, Vec::<i64>::new(), &[0])?);
        arrays.push(match self.bytes {
            true => shaped(py, Vec::<u8>::new(), &self.feature_shape(0))?,
            false => shaped(py, Vec::<f32>::new(), &self.feature_shape(0))?,
        });
        let class = py.import("jarmo._types")?.getattr("Step")?;
        class.call1(PyTuple::new(py, arrays)?)
    }

    /// Starts other games: all, or those where ``mask`` (``[N]``, ``bool``) is set. With a seed everything begins
    /// again, as in a new environment with that seed.
    #[pyo3(signature = (*, seed=None, mask=None, out=None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seed: Option<u64>,
        mask: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let which = mask.map(|mask| self.which(mask)).transpose()?;
        let arrays = self.arrays(py, out)?;
        // An array that cannot be written must not cost the games, so it is tried first.
        self.fill(py, &arrays, out.is_none(), |_, _| {})?;
        let (env, which) = (&mut self.env, which.as_deref());
        py.detach(|| env.reset(seed, which))
            .map_err(PyValueError::new_err)?;
        self.fill(py, &arrays, out.is_none(), |env, out| env.write(out))?;
        self.result(py, arrays)
    }

    /// The results of the last step once more.
    #[pyo3(signature = (*, out=None))]
    fn observe<'py>(
        &mut self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = self.arrays(py, out)?;
        self.fill(py, &arrays, out.is_none(), |env, out| env.write(out))?;
        self.result(py, arrays)
    }

    /// Plays one action in every game.
    ///
    /// Args:
    ///     actions: ``[N]``, any integer type.
    ///     out: Arrays to write into, as ``buffers()`` makes them; only ``finished`` and ``final_observation`` of the
    ///         result are new then.
    ///
    /// Raises:
    ///     ValueError: An action is illegal or its game is over; the message names the slot and the reason.
    ///     TypeError: An argument has the wrong type.
    #[pyo3(signature = (actions, *, out=None))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let actions = integers(actions, "actions", self.games)?;
        let taken = self.env.set_actions(&actions);
        taken.map_err(PyValueError::new_err)?;
        let arrays = self.arrays(py, out)?;
        self.fill(py, &arrays, out.is_none(), |env, out| env.step(out))?;
        self.result(py, arrays)
    }

    /// A legal action for every game, uniformly at random: ``[N]``, -1 where the game is over. Repeated calls give
    /// the same actions until the next step.
    #[pyo3(signature = (*, out=None))]
    fn sample_actions<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = match out {
            Some(out) => out.clone(),
            None => PyArray1::<i64>::zeros(py, self.games, false).into_any(),
        };
        let mut actions = writable::<i64, Ix1>(&array, "out", &[self.games])?;
        let slice = actions.as_slice_mut().expect("checked to be contiguous");
        py.detach(|| self.env.sample(slice));
        drop(actions);
        Ok(array)
    }

    /// The position in a slot.
    fn position(&self, slot: usize) -> PyResult<Position> {
        if slot >= self.games {
            return Err(PyIndexError::new_err(format!(
                "slot {slot}: there are {} slots",
                self.games
            )));
        }
        Ok(Position::new(self.game.clone(), self.env.position(slot)))
    }

    /// The positions of all slots.
    fn positions(&self) -> Vec<Position> {
        (0..self.games)
            .map(|slot| Position::new(self.game.clone(), self.env.position(slot)))
            .collect()
    }

    /// The last positions of the games that ended in the last step, by slot.
    fn final_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (slot, at) in self.env.finished() {
            dict.set_item(slot, Position::new(self.game.clone(), at))?;
        }
        Ok(dict)
    }

    /// The unfinished games and the seed. Slots whose game is over, with ``autoreset`` other than ``"same_step"``,
    /// are saved without their last position.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let saved = py.detach(|| self.env.save());
        PyBytes::new(py, &saved)
    }

    /// Continues exactly as the saved environment would have, which must have had the same settings. The number of
    /// threads may differ.
    fn restore(&mut self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        let env = &mut self.env;
        let restored = py.detach(|| env.restore(saved));
        restored.map_err(PyValueError::new_err)
    }

    fn __len__(&self) -> usize {
        self.games
    }

    fn __repr__(&self) -> String {
        format!(
            "jarmo.VecEnv({:?}, {}, seed={})",
            self.game.facts().name,
            self.games,
            self.env.seed()
        )
    }
}

impl VecEnv {
    /// Reads a mask of slots, `[num_envs]`.
    fn which(&self, mask: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
        let wrong = || {
            PyTypeError::new_err(format!(
                "mask must be an array of bool with shape [{}]",
                self.games
            ))
        };
        let mask = mask.cast::<PyArray1<bool>>().map_err(|_| wrong())?;
        let which: Vec<bool> = mask.try_readonly()?.as_array().iter().copied().collect();
        match which.len() == self.games {
            true => Ok(which),
            false => Err(wrong()),
        }
    }
}

/// The speed of the library's own environment in this process, without Python in the loop: ``plies_per_s``,
/// ``plies_per_cpu_s`` and the number of ``threads``. With ``observe`` features and masks are written.
#[pyfunction]
#[pyo3(signature = (game, num_envs, *, observe=true, seconds=1.0, seed=0))]
pub fn bench_env<'py>(
    py: Python<'py>,
    game: GameArgument,
    num_envs: usize,
    observe: bool,
    seconds: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    if !(1..=MOST_GAMES).contains(&num_envs) || !(0.0..=60.0).contains(&seconds) {
        return Err(PyValueError::new_err(
            "num_envs must be at least 1 and seconds 0 to 60",
        ));
    }
    let work = EnvWork {
        games: num_envs,
        observe,
        seed,
        run_time: Duration::from_secs_f64(seconds),
    };
    let speed = py.detach(|| pool().install(|| game.0.bench(work)));
    let dict = PyDict::new(py);
    dict.set_item("plies_per_s", speed.plies_per_s)?;
    dict.set_item("plies_per_cpu_s", speed.plies_per_cpu_s)?;
    dict.set_item("threads", speed.threads)?;
    Ok(dict)
}
