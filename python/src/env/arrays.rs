//! The arrays of an environment: new ones, and the caller's as slices.

use jarmo_core::env::{Features, Masks, Rows};
use jarmo_facade::measure::AnyEnv;
use numpy::ndarray::{Array, Array4, ArrayViewMut, ArrayViewMut4, Dimension, IntoDimension};
use numpy::{Element, PyArray, PyReadwriteArrayDyn};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use rayon::iter::Either;

use crate::array::{LARGE, aligned, copied, writable};
use crate::game::PyGame;

#[derive(Clone)]
pub(super) struct Layout {
    pub game: PyGame,
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
        self.game.0.facts().feature_shape(games, self.threats)
    }

    /// The arrays that `work` writes, in the order of the fields of `Step`: those of the caller, or new ones.
    pub(super) fn fill<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        work: impl FnOnce(Rows<'_>) -> PyResult<()>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let games = self.games;
        let actions = self.game.0.facts().version.shape.actions;
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
                Either::Left(bytes) => Features::Byte(bytes.view()),
                Either::Right(floats) => Features::Float(floats.view()),
            },
            masks: match &mut masks {
                Either::Left(packed) => Masks::Packed(packed.view()),
                Either::Right(bools) => Masks::Bool(bools.view()),
            },
            rewards: rewards.view(),
            terminated: terminated.view(),
            truncated: truncated.view(),
            to_move: to_move.view(),
            actors: actors.view(),
            actor_rewards: actor_rewards.view(),
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
        let slots: Vec<i64> = env.map_or(Vec::new(), AnyEnv::finished).into_iter().map(|slot| slot as i64).collect();
        let shape = self.features(slots.len());
        let write = |all: Features<'_>| env.map_or((), |env| env.write_final_features(all, self.threats));
        arrays.push(copied(py, &slots));
        arrays.push(match self.bytes {
            true => last(py, shape, |all| write(Features::Byte(all))),
            false => last(py, shape, |all| write(Features::Float(all))),
        });
        // Not by `Step(…)`, which is Python's code: there Ctrl-C would raise after the games have gone on.
        let step = STEP.import(py, "jarmo._types", "Step")?;
        py.get_type::<PyTuple>().call_method1(intern!(py, "__new__"), (step, PyTuple::new(py, arrays)?))
    }

    /// `jarmo.Step` of zeros.
    pub(super) fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let arrays = self.fill(py, None, |_| Ok(()))?;
        self.step(py, None, arrays)
    }
}

/// The features of some last positions.
fn last<'py, T: Element + Copy + Default>(
    py: Python<'py>,
    shape: [usize; 4],
    write: impl FnOnce(ArrayViewMut4<'_, T>),
) -> Bound<'py, PyAny> {
    let mut features = Array4::from_elem(shape, T::default());
    write(features.view_mut());
    PyArray::from_array(py, &features).into_any()
}

/// Where the numbers of an array are written.
enum Target<'py, T: Element, D> {
    /// A new array with few numbers. Python does not know the array yet, which spares the checks and locks of arrays that
    /// a caller holds.
    Few(Array<T, D>),
    /// An array of the caller, or a large new one.
    Array(Bound<'py, PyAny>, PyReadwriteArrayDyn<'py, T>),
}

impl<'py, T: Element + Copy + Default, D: Dimension> Target<'py, T, D> {
    /// The array with this name of `out`, or a new one of zeros.
    fn of(
        out: Option<&Bound<'py, PyAny>>,
        name: &Bound<'py, PyString>,
        shape: impl IntoDimension<Dim = D>,
    ) -> PyResult<Self> {
        let shape = shape.into_dimension();
        let array = match out {
            Some(out) => out.getattr(name).map_err(|_| {
                PyTypeError::new_err(format!("out has no array `{name}`; VecEnv.buffers() makes one with all arrays"))
            })?,
            None if shape.size() * size_of::<T>() < LARGE => {
                return Ok(Target::Few(Array::from_elem(shape, T::default())));
            }
            None => aligned::<T>(name.py(), shape.slice())?,
        };
        let numbers = writable(&array, &format_args!("out.{name}"), shape.slice())?;
        Ok(Target::Array(array, numbers))
    }

    fn view(&mut self) -> ArrayViewMut<'_, T, D> {
        match self {
            Target::Few(numbers) => numbers.view_mut(),
            Target::Array(_, numbers) => numbers.as_array_mut().into_dimensionality().expect("the shape is checked"),
        }
    }

    fn array(self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Target::Few(numbers) => PyArray::from_array(py, &numbers).into_any(),
            Target::Array(array, _) => array,
        }
    }
}
