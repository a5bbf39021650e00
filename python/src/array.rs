//! NumPy arrays from and for the caller. Every error names the argument.

use std::fmt::Display;

use numpy::ndarray::{Array2, Dimension};
use numpy::{
    BorrowError, Element, IntoPyArray, PyArray, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods,
    PyReadonlyArray, PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySlice;

/// Reads an array of whole numbers, `[len]`, of any integer type.
pub(crate) fn integers(given: &Bound<'_, PyAny>, name: &str, len: usize) -> PyResult<Vec<i64>> {
    let numbers = match whole_numbers(given)? {
        Some(numbers) => numbers,
        None => {
            // A list, a tensor, or a scalar: whatever NumPy makes an array of.
            let array = given.py().import("numpy")?.call_method1("asarray", (given,))?;
            whole_numbers(&array)?.ok_or_else(|| {
                let array = array.cast::<PyUntypedArray>();
                let found = array.map_or("something else".to_owned(), describe);
                PyTypeError::new_err(format!(
                    "{name} must be an array of whole numbers with shape [{len}], not {found}"
                ))
            })?
        }
    };
    if numbers.len() != len {
        return Err(PyValueError::new_err(format!("{name} must have shape [{len}], not [{}]", numbers.len())));
    }
    Ok(numbers)
}

/// The numbers of a one-dimensional array of integers; `None` for anything else.
fn whole_numbers(given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<i64>>> {
    fn read<T: Element + Copy + TryInto<i64>>(given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<i64>>> {
        let Ok(array) = given.cast::<PyArray1<T>>() else {
            return Ok(None);
        };
        let number = |&number: &T| number.try_into().unwrap_or(i64::MAX); // too large for any use
        Ok(Some(readable(array)?.as_array().iter().map(number).collect()))
    }
    let signed = [read::<i64>, read::<i32>, read::<i16>, read::<i8>];
    for read in signed.into_iter().chain([read::<u8>, read::<u16>, read::<u32>, read::<u64>]) {
        if let Some(numbers) = read(given)? {
            return Ok(Some(numbers));
        }
    }
    Ok(None)
}

/// The caller's array to read, or a copy of it if its numbers are misaligned in memory, which a view must not have.
pub(crate) fn readable<'py, T: Element, D: Dimension>(
    array: &Bound<'py, PyArray<T, D>>,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    match array.is_aligned() {
        true => Ok(array.try_readonly()?),
        false => Ok(array.call_method0("copy")?.cast_into::<PyArray<T, D>>()?.try_readonly()?),
    }
}

/// The caller's array to write into, checked: type, shape, layout, and that it may be written.
pub(crate) fn writable<'py, T: Element>(
    given: &Bound<'py, PyAny>,
    name: &dyn Display,
    shape: &[usize],
) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    let py = given.py();
    let wanted = || format!("an array of {} with shape {shape:?}", dtype::<T>(py));
    let Ok(array) = given.cast::<PyUntypedArray>() else {
        let found = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} must be {}, not {found}", wanted())));
    };
    if !array.dtype().is_equiv_to(&dtype::<T>(py)) {
        return Err(PyTypeError::new_err(format!("{name} must be {}, not {}", wanted(), describe(array))));
    }
    if array.shape() != shape {
        return Err(PyValueError::new_err(format!("{name} must be {}, not {}", wanted(), describe(array))));
    }
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err(format!("{name} must be contiguous in C order")));
    }
    if !array.is_aligned() {
        return Err(PyValueError::new_err(format!("{name} must be aligned in memory")));
    }
    let array = given.cast::<PyArrayDyn<T>>()?;
    array.try_readwrite().map_err(|error| {
        PyValueError::new_err(match error {
            BorrowError::NotWriteable => format!("{name} is read-only"),
            _ => format!("{name} shares its memory with another array of the same call"),
        })
    })
}

/// Type and shape of an array, for messages.
pub(crate) fn describe(array: &Bound<'_, PyUntypedArray>) -> String {
    format!("{} with shape {:?}", array.dtype(), array.shape())
}

/// A new array with some rows, `[rows, width]`: all of it is `empty`, and then filled row by row.
pub(crate) fn table<'py, R, T: Element + Clone>(
    py: Python<'py>,
    rows: &[R],
    width: usize,
    empty: T,
    fill: impl Fn(&R, &mut [T]),
) -> Bound<'py, PyAny> {
    let mut numbers = Array2::from_elem((rows.len(), width), empty);
    for (row, out) in rows.iter().zip(numbers.outer_iter_mut()) {
        fill(row, out.into_slice().expect("a row in C order"));
    }
    numbers.into_pyarray(py).into_any()
}

/// A new array with one number for each of some rows, `[rows]`.
pub(crate) fn column<'py, R, T: Element>(py: Python<'py>, rows: &[R], number: impl Fn(&R) -> T) -> Bound<'py, PyAny> {
    PyArray1::from_vec(py, rows.iter().map(number).collect()).into_any()
}

/// A new array with these numbers.
pub(crate) fn copied<'py, T: Element + Copy>(py: Python<'py>, numbers: &[T]) -> Bound<'py, PyAny> {
    PyArray1::from_slice(py, numbers).into_any()
}

/// Bytes from which on a new array is aligned; below, a copy costs less than the alignment.
pub(crate) const LARGE: usize = 1 << 14;

/// A new array of zeros that begins at a multiple of 64 bytes, so that JAX takes it without a copy.
pub(crate) fn aligned<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    const ALIGNMENT: usize = 64;
    let bytes = shape.iter().product::<usize>() * size_of::<T>();
    let room = PyArray1::<u8>::zeros(py, bytes + ALIGNMENT, false);
    let first = room.data().align_offset(ALIGNMENT);
    let within = PySlice::new(py, first as isize, (first + bytes) as isize, 1);
    let numbers = room.get_item(within)?.call_method1("view", (dtype::<T>(py),))?;
    numbers.call_method1("reshape", (shape,))
}
