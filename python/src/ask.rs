//! The user's function as an evaluator.

use std::sync::Arc;

use jarmo_core::eval::Value;
use jarmo_core::ndarray::{Array, Array2, Array4, ArrayView2, Axis, RemoveAxis, Slice};
use jarmo_facade::selfplay::{Net, NetFunction};
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::array::{describe, readable};
use crate::threads::Caller;

/// The user's function, and what it is called with.
#[derive(Clone)]
pub(crate) struct Function {
    pub evaluate: Arc<Py<PyAny>>,
    pub threats: bool,
    /// The preferred number of positions.
    pub batch: usize,
    /// Whether all batches are filled up to it, with zeros and empty masks.
    pub pad: bool,
}

impl Function {
    /// The function as it is called by this caller. After an error its evaluations have no meaning.
    pub(crate) fn net(&self, caller: &Caller) -> Net {
        let (function, caller) = (self.clone(), caller.clone());
        let evaluate = move |features: Array4<f32>, masks: Array2<bool>| {
            let (function, size) = (function.clone(), masks.dim());
            let answered = caller.call(move |py| function.answer(py, features, masks));
            answered.unwrap_or_else(|| (vec![0.0; size.0 * size.1], vec![Value::EVEN; size.0]))
        };
        Net::Function(Arc::new(NetFunction { batch: self.batch, threats: self.threats, evaluate: Box::new(evaluate) }))
    }

    /// Calls the function with features, `[rows, planes, rows, columns]`, and masks, `[rows, actions]`, and checks its
    /// answer: logits, `[rows, actions]`, and values.
    fn answer(&self, py: Python<'_>, features: Array4<f32>, masks: Array2<bool>) -> PyResult<(Vec<f32>, Vec<Value>)> {
        let (rows, actions) = masks.dim();
        let padded = if self.pad { rows.max(self.batch) } else { rows };
        let shown = (filled_up(features, padded).into_pyarray(py), filled_up(masks.clone(), padded).into_pyarray(py));
        let given = self.evaluate.bind(py).call1(shown)?;
        let both = match given.cast::<PyList>() {
            Ok(list) => Some(list.to_tuple()),
            Err(_) => given.cast::<PyTuple>().ok().cloned(),
        };
        let Some(both) = both.filter(|both| both.len() == 2) else {
            let found = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("evaluate must return a tuple (logits, values), not {found}")));
        };
        let (mut logits, _) = floats(&both.get_item(0)?, "evaluate: logits", &[padded, actions])?;
        logits.truncate(rows * actions);
        check_logits("evaluate", &logits, masks.view()).map_err(|(_, error)| PyValueError::new_err(error))?;
        Ok((logits, read_values(&both.get_item(1)?, padded, rows)?))
    }
}

/// The rows, and empty ones up to this number.
fn filled_up<T: Clone + Default, D: RemoveAxis>(rows: Array<T, D>, count: usize) -> Array<T, D> {
    if rows.len_of(Axis(0)) == count {
        return rows;
    }
    let mut shape = rows.raw_dim();
    shape[0] = count;
    let mut all = Array::from_elem(shape, T::default());
    all.slice_axis_mut(Axis(0), Slice::from(..rows.len_of(Axis(0)))).assign(&rows);
    all
}

/// Fails if a legal action has a logit that is not finite: its row, and what is wrong.
pub(crate) fn check_logits(argument: &str, logits: &[f32], masks: ArrayView2<'_, bool>) -> Result<(), (usize, String)> {
    let actions = masks.ncols();
    let wrong = logits.iter().zip(masks).position(|(logit, legal)| *legal && !logit.is_finite());
    wrong.map_or(Ok(()), |index| {
        let (row, action, logit) = (index / actions, index % actions, logits[index]);
        let error = format!(
            "{argument}: logits[{row}, {action}] is {logit}, and the action is legal; \
             only illegal actions may have logits that are not finite"
        );
        Err((row, error))
    })
}

/// The numbers of an array of this shape, with their number per row. Where `[rows]` is asked for, `[rows, 1]` and
/// `[rows, 3]` will do, too.
pub(crate) fn floats(given: &Bound<'_, PyAny>, name: &str, shape: &[usize]) -> PyResult<(Vec<f32>, usize)> {
    let py = given.py();
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (given,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind == "c" {
        let found = describe(array.cast::<PyUntypedArray>()?);
        return Err(PyTypeError::new_err(format!("{name} must be real numbers, not {found}")));
    }
    let array = numpy.call_method1("asarray", (array, "float32"))?;
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
            "{name} must have shape {wanted}, not {}",
            describe(array.as_untyped())
        )));
    }
    let numbers = readable(array)?;
    let numbers = match numbers.as_slice() {
        Ok(numbers) => numbers.to_vec(),
        Err(_) => numbers.as_array().iter().copied().collect(),
    };
    Ok((numbers, found.get(1).copied().unwrap_or(1)))
}

/// The values of the first `rows` of `padded` positions.
fn read_values(given: &Bound<'_, PyAny>, padded: usize, rows: usize) -> PyResult<Vec<Value>> {
    const SLACK: f32 = 1e-3; // of rounding
    let (numbers, columns) = floats(given, "evaluate: values", &[padded])?;
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
