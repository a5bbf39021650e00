//! Whole numbers as arguments: a reader of each, with its bounds. Every error names the argument.

use std::ops::RangeInclusive;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

type Given<'a, 'py> = &'a Bound<'py, PyAny>;

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

fn some<T>(given: Given<'_, '_>, name: &str, bounds: RangeInclusive<T>) -> PyResult<Option<T>>
where
    T: TryFrom<i128> + Into<i128> + Copy,
{
    match given.is_none() {
        true => Ok(None),
        false => whole(given, name, bounds).map(Some),
    }
}

type Reader<T> = fn(Given<'_, '_>) -> PyResult<T>;

/// No random opening is this long without ending most games.
const MOST_OPENING_PLIES: u32 = 100;

pub(crate) const SEED: Reader<u64> = |given| whole(given, "seed", 0..=u64::MAX);
pub(crate) const NUM_ENVS: Reader<u32> = |given| whole(given, "num_envs", 1..=1 << 24);
pub(crate) const THREADS: Reader<Option<u32>> = |given| some(given, "threads", 1..=1024);
pub(crate) const MAX_PLIES: Reader<Option<u32>> = |given| some(given, "max_plies", 0..=u32::MAX);
pub(crate) const QUIET_LIMIT: Reader<Option<u32>> = |given| some(given, "quiet_limit", 0..=u32::MAX);
pub(crate) const RANDOM_PLIES: Reader<u32> = |given| whole(given, "random_plies", 0..=MOST_OPENING_PLIES);
pub(crate) const SOME_RANDOM_PLIES: Reader<Option<u32>> = |given| some(given, "random_plies", 0..=MOST_OPENING_PLIES);
pub(crate) const NODES: Reader<Option<u64>> = |given| some(given, "nodes", 0..=u64::MAX); // who cannot do with 0 says why
pub(crate) const SIMULATIONS: Reader<u32> = |given| whole(given, "simulations", 1..=10_000_000); // no tree holds more
pub(crate) const CONSIDERED: Reader<Option<u32>> = |given| some(given, "considered", 1..=u32::MAX);
pub(crate) const BATCH: Reader<u32> = |given| whole(given, "batch", 1..=1 << 24);
pub(crate) const GAMES: Reader<u32> = |given| whole(given, "games", 1..=1 << 20);
pub(crate) const MIN_SAMPLES: Reader<u32> = |given| whole(given, "min_samples", 1..=1 << 30);
pub(crate) const SLOT: Reader<u32> = |given| whole(given, "slot", 0..=u32::MAX);
pub(crate) const VIEWER: Reader<Option<u8>> = |given| some(given, "viewer", 0..=1);
pub(crate) const STEP: Reader<u64> = |given| whole(given, "step", 0..=u64::MAX);
pub(crate) const GAMES_PLAYED: Reader<u64> = |given| whole(given, "games", 0..=u64::MAX);

/// A seed, or a sequence of them, which must not be empty; none for `None`.
pub(crate) fn seeds(given: Given<'_, '_>) -> PyResult<Vec<u64>> {
    if given.is_none() {
        return Ok(Vec::new());
    }
    let Ok(list) = given.try_iter() else {
        return Ok(vec![SEED(given)?]);
    };
    let seeds = list.map(|one| SEED(&one?)).collect::<PyResult<Vec<u64>>>()?;
    match seeds.is_empty() {
        true => Err(PyValueError::new_err("seed must be one number, or one for each slot")),
        false => Ok(seeds),
    }
}
