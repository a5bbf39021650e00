//! Whole numbers as arguments: a function for each, with its bounds. Every error names the argument.

use std::ops::RangeInclusive;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

type Given<'a, 'py> = &'a Bound<'py, PyAny>;

/// Reads a whole number.
fn whole<T>(given: Given<'_, '_>, name: &str, bounds: RangeInclusive<T>) -> PyResult<T>
where
    T: TryFrom<i128> + Into<i128> + Copy,
{
    let (least, most): (i128, i128) = ((*bounds.start()).into(), (*bounds.end()).into());
    let number = match given.extract::<i128>() {
        Ok(number) => Some(number),
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => None,
        Err(_) => {
            let found = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{name} must be a whole number, not {found}")));
        }
    };
    let within = number.filter(|number| (least..=most).contains(number));
    let fitting = within.and_then(|number| T::try_from(number).ok());
    fitting.ok_or_else(|| {
        let wanted = match [i128::from(u32::MAX), i128::from(u64::MAX)].contains(&most) {
            true => format!("at least {least}"),
            false => format!("{least} to {most}"),
        };
        PyValueError::new_err(format!("{name} must be {wanted}, not {given}"))
    })
}

/// Reads a whole number or None.
fn some<T>(given: Given<'_, '_>, name: &str, bounds: RangeInclusive<T>) -> PyResult<Option<T>>
where
    T: TryFrom<i128> + Into<i128> + Copy,
{
    match given.is_none() {
        true => Ok(None),
        false => whole(given, name, bounds).map(Some),
    }
}

pub(crate) fn seed(given: Given<'_, '_>) -> PyResult<u64> {
    whole(given, "seed", 0..=u64::MAX)
}

/// A seed, or a sequence of them, which must not be empty; none for `None`.
pub(crate) fn seeds(given: Given<'_, '_>) -> PyResult<Vec<u64>> {
    if given.is_none() {
        return Ok(Vec::new());
    }
    let Ok(list) = given.try_iter() else {
        return Ok(vec![seed(given)?]);
    };
    let seeds = list.map(|one| seed(&one?)).collect::<PyResult<Vec<u64>>>()?;
    match seeds.is_empty() {
        true => Err(PyValueError::new_err("seed must be one number, or one for each slot")),
        false => Ok(seeds),
    }
}

pub(crate) fn num_envs(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "num_envs", 1..=1 << 24)
}

pub(crate) fn threads(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "threads", 1..=1024)
}

pub(crate) fn max_plies(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "max_plies", 0..=u32::MAX)
}

pub(crate) fn quiet_limit(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "quiet_limit", 0..=u32::MAX)
}

pub(crate) fn random_plies(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "random_plies", 0..=MOST_OPENING_PLIES)
}

pub(crate) fn some_random_plies(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "random_plies", 0..=MOST_OPENING_PLIES)
}

/// No random opening is this long without ending most games.
const MOST_OPENING_PLIES: u32 = 100;

pub(crate) fn nodes(given: Given<'_, '_>) -> PyResult<Option<u64>> {
    some(given, "nodes", 0..=u64::MAX) // whoever cannot do with 0 says why
}

pub(crate) fn simulations(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "simulations", 1..=10_000_000) // no tree holds more
}

pub(crate) fn considered(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "considered", 1..=u32::MAX)
}

pub(crate) fn batch(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "batch", 1..=1 << 24)
}

pub(crate) fn games(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "games", 1..=1 << 20)
}

pub(crate) fn min_samples(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "min_samples", 1..=1 << 30)
}

pub(crate) fn slot(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "slot", 0..=u32::MAX)
}

pub(crate) fn viewer(given: Given<'_, '_>) -> PyResult<Option<u8>> {
    some(given, "viewer", 0..=1)
}

pub(crate) fn step(given: Given<'_, '_>) -> PyResult<u64> {
    whole(given, "step", 0..=u64::MAX)
}

pub(crate) fn games_played(given: Given<'_, '_>) -> PyResult<u64> {
    whole(given, "games", 0..=u64::MAX)
}
