//! The arrays of an environment: new ones, and the caller's as slices.

use std::sync::Arc;

use jarmo_core::env::{Features, Masks, Rows};
use numpy::ndarray::{Ix1, Ix2, Ix4};
use numpy::{Element, PyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};

use super::AnyEnv;
use crate::array::{LARGE, aligned, copied, shaped, writable};
use crate::game::AnyGame;

/// The names of the fields of `Step` that a step writes, in their order.
const FIELDS: [&str; 8] =
    ["observation", "mask", "reward", "terminated", "truncated", "to_move", "seat", "seat_reward"];

static NAMES: PyOnceLock<[Py<PyString>; FIELDS.len()]> = PyOnceLock::new();

/// What the arrays look like.
#[derive(Clone)]
pub(super) struct Layout {
    pub game: Arc<dyn AnyGame>,
    pub games: usize,
    /// Features as `uint8`.
    pub bytes: bool,
    /// Masks as bits.
    pub packed: bool,
    pub threats: bool,
}

impl Layout {
    /// The shape of the features of some positions.
    pub(super) fn features(&self, games: usize) -> [usize; 4] {
        self.game.facts().shape(games, self.threats)
    }

    fn masks(&self) -> [usize; 2] {
        let actions = self.game.facts().actions;
        match self.packed {
            true => [self.games, actions.div_ceil(8)],
            false => [self.games, actions],
        }
    }

    /// New arrays of zeros for everything that a step writes.
    fn zeros<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let games = self.games;
        let (features, masks) = (self.features(games), self.masks());
        Ok(vec![
            match self.bytes {
                true => aligned::<u8>(py, &features)?,
                false => aligned::<f32>(py, &features)?,
            },
            match self.packed {
                true => aligned::<u8>(py, &masks)?,
                false => aligned::<bool>(py, &masks)?,
            },
            PyArray2::<f32>::zeros(py, [games, 2], false).into_any(),
            PyArray1::<bool>::zeros(py, games, false).into_any(),
            PyArray1::<bool>::zeros(py, games, false).into_any(),
            PyArray1::<i8>::zeros(py, games, false).into_any(),
            PyArray1::<i8>::zeros(py, games, false).into_any(),
            PyArray1::<f32>::zeros(py, games, false).into_any(),
        ])
    }

    /// The arrays to write, in the order of `FIELDS`: new ones, or those of the caller.
    pub(super) fn arrays<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let Some(out) = out else {
            return self.zeros(py);
        };
        let array = |(field, name): (&&str, &Py<PyString>)| {
            out.getattr(name).map_err(|_| {
                PyTypeError::new_err(format!("out has no array `{field}`; VecEnv.buffers() makes one with all arrays"))
            })
        };
        let names = NAMES.get_or_init(py, || FIELDS.map(|field| PyString::new(py, field).unbind()));
        FIELDS.iter().zip(names).map(array).collect()
    }

    /// Gives the arrays to `work` as rows.
    pub(super) fn fill<'py, T>(
        &self,
        arrays: &[Bound<'py, PyAny>],
        zeroed: bool,
        work: impl FnOnce(Rows<'_>) -> T,
    ) -> PyResult<T> {
        let games = self.games;
        let (features, masks) = (self.features(games), self.masks());
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
        let mut actors = writable::<i8, Ix1>(&arrays[6], "out.seat", &[games])?;
        let mut actor_rewards = writable::<f32, Ix1>(&arrays[7], "out.seat_reward", &[games])?;
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
        Ok(work(Rows {
            features,
            masks,
            rewards: rewards.as_slice_mut().expect(contiguous),
            terminated: terminated.as_slice_mut().expect(contiguous),
            truncated: truncated.as_slice_mut().expect(contiguous),
            to_move: to_move.as_slice_mut().expect(contiguous),
            actors: actors.as_slice_mut().expect(contiguous),
            actor_rewards: actor_rewards.as_slice_mut().expect(contiguous),
            threats: self.threats,
            zeroed,
        }))
    }

    /// Whether all arrays are small.
    pub(super) fn is_small(&self) -> bool {
        let numbers: usize = self.features(self.games).iter().product();
        numbers * size_of::<f32>() < LARGE
    }

    /// New small arrays. `work` writes the numbers before Python knows the arrays, which spares the checks and locks of
    /// arrays that a caller holds.
    pub(super) fn few<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Rows<'_>) -> PyResult<()>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let games = self.games;
        let (features, masks) = (self.features(games), self.masks());
        let [numbers, bits] = [features.iter().product(), masks.iter().product()];
        let (mut floats, mut bytes, mut bools, mut packed) = (vec![], vec![], vec![], vec![]);
        let mut rewards = vec![0.0_f32; 2 * games];
        let [mut terminated, mut truncated] = [vec![false; games], vec![false; games]];
        let [mut to_move, mut actors] = [vec![0_i8; games], vec![0_i8; games]];
        let mut actor_rewards = vec![0.0_f32; games];
        work(Rows {
            features: match self.bytes {
                true => Features::Byte(zeros(&mut bytes, numbers)),
                false => Features::Float(zeros(&mut floats, numbers)),
            },
            masks: match self.packed {
                true => Masks::Packed(zeros(&mut packed, bits)),
                false => Masks::Bool(zeros(&mut bools, bits)),
            },
            rewards: &mut rewards,
            terminated: &mut terminated,
            truncated: &mut truncated,
            to_move: &mut to_move,
            actors: &mut actors,
            actor_rewards: &mut actor_rewards,
            threats: self.threats,
            zeroed: true,
        })?;
        Ok(vec![
            match self.bytes {
                true => copied(py, &bytes, features),
                false => copied(py, &floats, features),
            },
            match self.packed {
                true => copied(py, &packed, masks),
                false => copied(py, &bools, masks),
            },
            copied(py, &rewards, [games, 2]),
            copied(py, &terminated, [games]),
            copied(py, &truncated, [games]),
            copied(py, &to_move, [games]),
            copied(py, &actors, [games]),
            copied(py, &actor_rewards, [games]),
        ])
    }

    /// `jarmo.Step`: what a step wrote, and what ended in it.
    pub(super) fn step<'py>(
        &self,
        py: Python<'py>,
        env: &dyn AnyEnv,
        mut arrays: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let slots = env.finished_slots();
        let count = slots.len();
        let last = match self.bytes {
            true => self.last(py, count, |all| env.write_finished(Features::Byte(all), self.threats))?,
            false => self.last(py, count, |all| env.write_finished(Features::Float(all), self.threats))?,
        };
        arrays.push(copied(py, &slots, [count]));
        arrays.push(last);
        step_of(py, arrays)
    }

    /// The features of some last positions.
    fn last<'py, T: Element + Clone + Default>(
        &self,
        py: Python<'py>,
        count: usize,
        write: impl FnOnce(&mut [T]),
    ) -> PyResult<Bound<'py, PyAny>> {
        let shape = self.features(count);
        if count == 0 {
            return Ok(PyArray::<T, Ix4>::zeros(py, shape, false).into_any());
        }
        let mut features = vec![T::default(); shape.iter().product()];
        write(&mut features);
        shaped(py, features, &shape)
    }

    /// `jarmo.Step` of zeros.
    pub(super) fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut arrays = self.zeros(py)?;
        arrays.push(shaped(py, Vec::<i64>::new(), &[0])?);
        arrays.push(match self.bytes {
            true => self.last::<u8>(py, 0, |_| {})?,
            false => self.last::<f32>(py, 0, |_| {})?,
        });
        step_of(py, arrays)
    }
}

fn zeros<T: Clone + Default>(numbers: &mut Vec<T>, len: usize) -> &mut [T] {
    *numbers = vec![T::default(); len];
    numbers
}

fn step_of<'py>(py: Python<'py>, arrays: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    static STEP: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = STEP.import(py, "jarmo._types", "Step")?;
    class.call1(PyTuple::new(py, arrays)?)
}
