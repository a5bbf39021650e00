//! The user's function as an evaluator.

use std::sync::Arc;

use jarmo_core::eval::{Evaluation, Evaluator, Value};
use jarmo_core::game::Mask;
use jarmo_exact::catalog::CatalogGame;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::{describe, filled, shaped};
use crate::game::Facts;
use crate::threads::Caller;

/// The user's function, and what it is called with.
pub struct Function {
    pub evaluate: Py<PyAny>,
    pub facts: Facts,
    pub threats: bool,
    /// The preferred number of positions.
    pub batch: usize,
    /// Batches are filled up to this many rows with zeros and empty masks; 0 for no padding.
    pub pad: usize,
}

impl Function {
    /// Calls the function with features, `[rows, planes, rows, columns]`, and masks, `[rows, actions]`, and checks its
    /// answer: logits, `[rows, actions]`, and values.
    fn answer(&self, py: Python<'_>, mut features: Vec<f32>, masks: &[bool]) -> PyResult<(Vec<f32>, Vec<Value>)> {
        let actions = self.facts.actions;
        let rows = masks.len() / actions;
        let padded = rows.max(self.pad);
        features.resize(padded * self.facts.width(self.threats), 0.0);
        let mut shown = masks.to_vec();
        shown.resize(padded * actions, false);
        let features = shaped(py, features, &self.facts.shape(padded, self.threats))?;
        let shown = shaped(py, shown, &[padded, actions])?;
        let given = self.evaluate.bind(py).call1((features, shown))?;
        let both = given.cast::<PyTuple>().ok().filter(|both| both.len() == 2);
        let Some(both) = both else {
            let found = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("evaluate must return a tuple (logits, values), not {found}")));
        };
        let (mut logits, _) = floats(&both.get_item(0)?, "logits", &[padded, actions])?;
        logits.truncate(rows * actions);
        for (index, (logit, legal)) in logits.iter().zip(masks).enumerate() {
            if *legal && !logit.is_finite() {
                let (row, action) = (index / actions, index % actions);
                return Err(PyValueError::new_err(format!(
                    "evaluate: logits[{row}, {action}] is {logit}, and the action is legal; \
                     only illegal actions may have logits that are not finite"
                )));
            }
        }
        Ok((logits, read_values(&both.get_item(1)?, padded, rows)?))
    }
}

/// The function as the evaluator of one thread. Its evaluations are meaningless after an error.
#[derive(Clone)]
pub(crate) struct RemoteEvaluator<G> {
    pub game: G,
    pub function: Arc<Function>,
    pub caller: Caller,
}

impl<G: CatalogGame> Evaluator<G> for RemoteEvaluator<G> {
    fn batch(&self) -> usize {
        self.function.batch
    }

    fn evaluate(&mut self, positions: &[G::Position], _: &[u64], logits: &mut [f32], evaluations: &mut [Evaluation]) {
        let (game, function) = (&self.game, self.function.clone());
        let width = function.facts.width(function.threats);
        let features =
            filled(positions, width, 0.0, |position, row| game.set_features(position, row, function.threats));
        let masks = filled(positions, game.actions(), false, |position, row| {
            game.legal(position).iter().for_each(|action| row[action.index()] = true);
        });
        match self.caller.call(move |py| function.answer(py, features, &masks)) {
            Some((answered, values)) => {
                logits.copy_from_slice(&answered);
                for (evaluation, value) in evaluations.iter_mut().zip(values) {
                    *evaluation = Evaluation::of(value);
                }
            }
            None => {
                logits.fill(0.0);
                evaluations.fill(Evaluation::of(Value::EVEN));
            }
        }
    }
}

/// The numbers of an array of this shape, or of `[rows, 1]` or `[rows, 3]` where `[rows]` is asked for, with their
/// number per row.
fn floats(given: &Bound<'_, PyAny>, name: &str, shape: &[usize]) -> PyResult<(Vec<f32>, usize)> {
    let py = given.py();
    let array = py.import("numpy")?.call_method1("asarray", (given, "float32"))?;
    let array = array.cast::<PyArrayDyn<f32>>()?;
    let found = array.shape();
    let fits = match shape {
        [rows] => found == [*rows] || found == [*rows, 1] || found == [*rows, 3],
        _ => found == shape,
    };
    if !fits {
        let wanted = match shape {
            [rows] => format!("[{rows}], or [{rows}, 3] for win, draw and loss"),
            _ => format!("{shape:?}"),
        };
        return Err(PyValueError::new_err(format!(
            "evaluate: {name} must have shape {wanted}, not {}",
            describe(array.as_untyped())
        )));
    }
    let numbers = array.try_readonly()?;
    let numbers = match numbers.as_slice() {
        Ok(numbers) => numbers.to_vec(),
        Err(_) => numbers.as_array().iter().copied().collect(),
    };
    Ok((numbers, found.get(1).copied().unwrap_or(1)))
}

/// The values of the first `rows` of `padded` positions.
fn read_values(given: &Bound<'_, PyAny>, padded: usize, rows: usize) -> PyResult<Vec<Value>> {
    const SLACK: f32 = 1e-3; // of rounding
    let (numbers, columns) = floats(given, "values", &[padded])?;
    let mut values = Vec::with_capacity(rows);
    for (row, numbers) in numbers.chunks_exact(columns).take(rows).enumerate() {
        let value = match *numbers {
            [value] if value.abs() <= 1.0 + SLACK => {
                let value = value.clamp(-1.0, 1.0);
                Value { win: (1.0 + value) / 2.0, draw: 0.0, loss: (1.0 - value) / 2.0, score: 0.0 }
            }
            [value] => {
                return Err(PyValueError::new_err(format!(
                    "evaluate: values[{row}] is {value}; a value is the expected result for the player to move, \
                     between -1 and 1"
                )));
            }
            [win, draw, loss]
                if [win, draw, loss].iter().all(|share| *share >= -SLACK)
                    && (win + draw + loss - 1.0).abs() <= 10.0 * SLACK =>
            {
                Value { win, draw, loss, score: 0.0 }
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "evaluate: values[{row}] is {numbers:?}; win, draw and loss must be probabilities"
                )));
            }
        };
        values.push(value);
    }
    Ok(values)
}
