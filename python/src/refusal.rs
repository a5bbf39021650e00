//! Why the library refuses what the caller gave.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// The message of a `ValueError`, from any error of the library. It needs no lock of Python.
#[derive(Debug)]
pub struct Refusal(pub String);

pub(crate) type Checked<T> = Result<T, Refusal>;

impl<E: Display> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal(error.to_string())
    }
}

impl From<Refusal> for PyErr {
    fn from(Refusal(message): Refusal) -> PyErr {
        PyValueError::new_err(message)
    }
}
