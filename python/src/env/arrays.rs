//! The arrays of an environment: new ones, and the caller's as slices.

use std::sync::Arc;

use jarmo_core::env::{Features, Masks, Rows};
use numpy::ndarray::IntoDimension;
use numpy::{Element, PyReadwriteArrayDyn};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use rayon::iter::Either;

use super::AnyEnv;
use crate::array::{LARGE, aligned, copied, writable};
use crate::game::AnyGame;

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

    /// The arrays that `work` writes, in the order of the fields of `Step`: those of the caller, or new ones.
    pub(super) fn fill<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        work: impl FnOnce(Rows<'_>) -> PyResult<()>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let games = self.games;
        let actions = self.game.facts().actions;
        let mut features = {
            let (name, shape) = (intern!(py, "observation"), self.features(games));
            match self.bytes {
                true => Either::Left(Target::<u8, _>::of(out, name, shape)?),
                false => Either::Right(Target::<f32, _>::of(out, name, shape)?),
            }
        };
        let mut masks = {
            let name = intern!(py, "mask");
            match self.packed {
                true => Either::Left(Target::<u8, _>::of(out, name, [games, actions.div_ceil(8)])?),
                false => Either::Right(Target::<bool, _>::of(out, name, [games, actions])?),
            }
        };
        let mut rewards = Target::<f32, _>::of(out, intern!(py, "reward"), [games, 2])?;
        let mut terminated = Target::<bool, _>::of(out, intern!(py, "terminated"), [games])?;
        let mut truncated = Target::<bool, _>::of(out, intern!(py, "truncated"), [games])?;
        let mut to_move = Target::<i8, _>::of(out, intern!(py, "to_move"), [games])?;
        let mut actors = Target::<i8, _>::of(out, intern!(py, "seat"), [games])?;
        let mut actor_rewards = Target::<f32, _>::of(out, intern!(py, "seat_reward"), [games])?;
        work(Rows {
            features: match &mut features {
                Either::Left(bytes) => Features::Byte(bytes.numbers()),
                Either::Right(floats) => Features::Float(floats.numbers()),
            },
            masks: match &mut masks {
                Either::Left(packed) => Masks::Packed(packed.numbers()),
                Either::Right(bools) => Masks::Bool(bools.numbers()),
            },
            rewards: rewards.numbers(),
            terminated: terminated.numbers(),
            truncated: truncated.numbers(),
            to_move: to_move.numbers(),
            actors: actors.numbers(),
            actor_rewards: actor_rewards.numbers(),
            threats: self.threats,
            zeroed: out.is_none(),
        })?;
        Ok(vec![
            features.either(|bytes| bytes.array(py), |floats| floats.array(py)),
            masks.either(|packed| packed.array(py), |bools| bools.array(py)),
            rewards.array(py),
            terminated.array(py),
            truncated.array(py),
            to_move.array(py),
            actors.array(py),
            actor_rewards.array(py),
        ])
    }

    /// `jarmo.Step`: what a step wrote, and what ended in it; nothing without an environment.
    pub(super) fn step<'py>(
        &self,
        py: Python<'py>,
        env: Option<&dyn AnyEnv>,
        mut arrays: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static STEP: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let slots = env.map_or(Vec::new(), AnyEnv::finished_slots);
        let count = slots.len();
        let write = |all: Features<'_>| env.map_or((), |env| env.write_finished(all, self.threats));
        let last = match self.bytes {
            true => self.last(py, count, |all| write(Features::Byte(all))),
            false => self.last(py, count, |all| write(Features::Float(all))),
        };
        arrays.push(copied(py, &slots, [count]));
        arrays.push(last);
        STEP.import(py, "jarmo._types", "Step")?.call1(PyTuple::new(py, arrays)?)
    }

    /// The features of some last positions.
    fn last<'py, T: Element + Copy + Default>(
        &self,
        py: Python<'py>,
        count: usize,
        write: impl FnOnce(&mut [T]),
    ) -> Bound<'py, PyAny> {
        let shape = self.features(count);
        let mut features = vec![T::default(); shape.iter().product()];
        write(&mut features);
        copied(py, &features, shape)
    }

    /// `jarmo.Step` of zeros.
    pub(super) fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let arrays = self.fill(py, None, |_| Ok(()))?;
        self.step(py, None, arrays)
    }
}

/// Where the numbers of an array are written.
enum Target<'py, T: Element, const N: usize> {
    /// Few numbers of a new array, and its shape. Python does not know the array yet, which spares the checks and locks of
    /// arrays that a caller holds.
    Few(Vec<T>, [usize; N]),
    /// An array of the caller, or a large new one.
    Array(Bound<'py, PyAny>, PyReadwriteArrayDyn<'py, T>),
}

impl<'py, T: Element + Copy + Default, const N: usize> Target<'py, T, N>
where
    [usize; N]: IntoDimension,
{
    /// The array with this name of `out`, or a new one of zeros.
    fn of(out: Option<&Bound<'py, PyAny>>, name: &Bound<'py, PyString>, shape: [usize; N]) -> PyResult<Self> {
        let count = shape.iter().product();
        let array = match out {
            Some(out) => out.getattr(name).map_err(|_| {
                PyTypeError::new_err(format!("out has no array `{name}`; VecEnv.buffers() makes one with all arrays"))
            })?,
            None if count * size_of::<T>() < LARGE => {
                return Ok(Target::Few(vec![T::default(); count], shape));
            }
            None => aligned::<T>(name.py(), &shape)?,
        };
        let numbers = writable(&array, &format_args!("out.{name}"), &shape)?;
        Ok(Target::Array(array, numbers))
    }

    fn numbers(&mut self) -> &mut [T] {
        match self {
            Target::Few(numbers, _) => numbers,
            Target::Array(_, numbers) => numbers.as_slice_mut().expect("checked to be contiguous"),
        }
    }

    fn array(self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Target::Few(numbers, shape) => copied(py, &numbers, shape),
            Target::Array(array, _) => array,
        }
    }
}
