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
            return Err(PyTypeError::new_err(format!(
                "{name} must be a whole number, not {found}"
            )));
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

pub fn seed(given: Given<'_, '_>) -> PyResult<u64> {
    whole(given, "seed", 0..=u64::MAX)
}

/// A seed, or a sequence of them, which must not be empty; none for `None`.
pub fn seeds(given: Given<'_, '_>) -> PyResult<Vec<u64>> {
    if given.is_none() {
        return Ok(Vec::new());
    }
    let Ok(list) = given.try_iter() else {
        return Ok(vec![seed(given)?]);
    };
    let seeds = list
        .map(|one| seed(&one?))
        .collect::<PyResult<Vec<u64>>>()?;
    match seeds.is_empty() {
        true => Err(PyValueError::new_err(
            "seed must be one number, or one for each slot",
        )),
        false => Ok(seeds),
    }
}

pub fn num_envs(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "num_envs", 1..=1 << 24)
}

pub fn threads(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "threads", 1..=1024)
}

pub fn max_plies(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "max_plies", 0..=u32::MAX)
}

pub fn quiet_limit(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "quiet_limit", 0..=u32::MAX)
}

pub fn random_plies(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "random_plies", 0..=MOST_OPENING_PLIES)
}

pub fn some_random_plies(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "random_plies", 0..=MOST_OPENING_PLIES)
}

/// No random opening is this long without ending most games.
const MOST_OPENING_PLIES: u32 = 100;

pub fn nodes(given: Given<'_, '_>) -> PyResult<Option<u64>> {
    some(given, "nodes", 0..=u64::MAX) // whoever cannot do with 0 says why
}

pub fn simulations(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "simulations", 1..=10_000_000) // no tree holds more
}

pub fn considered(given: Given<'_, '_>) -> PyResult<Option<u32>> {
    some(given, "considered", 1..=u32::MAX)
}

pub fn batch(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "batch", 1..=1 << 24)
}

pub fn games(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "games", 1..=1 << 20)
}

pub fn min_samples(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "min_samples", 1..=1 << 30)
}

pub fn slot(given: Given<'_, '_>) -> PyResult<u32> {
    whole(given, "slot", 0..=u32::MAX)
}

pub fn viewer(given: Given<'_, '_>) -> PyResult<Option<u8>> {
    some(given, "viewer", 0..=1)
}

pub fn step(given: Given<'_, '_>) -> PyResult<u64> {
    whole(given, "step", 0..=u64::MAX)
}

pub fn games_played(given: Given<'_, '_>) -> PyResult<u64> {
    whole(given, "games", 0..=u64::MAX)
}
