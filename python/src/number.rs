//! Whole numbers, words and flags as arguments: a reader of each, with its bounds. Every error names the argument.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use jarmo_core::search::Root;
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
        let is_low = number.map_or(given.to_string().starts_with('-'), |number| number < least);
        let power = [32, 64].into_iter().find(|power| most == (1 << power) - 1);
        let wanted = match power {
            Some(_) if is_low => format!("at least {least}"),
            Some(power) => format!("at most 2**{power} - 1"),
            None => format!("{least} to {most}"),
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

/// `None` for fresh entropy, which [`entropy`] draws.
pub(crate) const SOME_SEED: Reader<Option<u64>> = |given| some(given, "seed", 0..=u64::MAX);
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
pub(crate) const FRESH: Reader<u32> = |given| whole(given, "fresh", 0..=1_000_000);
pub(crate) const PLAYED_STARTS: Reader<u32> = |given| whole(given, "games", 0..=1_000_000);
pub(crate) const STARTS: Reader<u32> = |given| whole(given, "starts", 0..=1_000_000);
pub(crate) const POSITIONS: Reader<u32> = |given| whole(given, "positions", 0..=1_000_000);
pub(crate) const GAMES_PLAYED: Reader<u64> = |given| whole(given, "games", 0..=u64::MAX);

fn one_of(given: Given<'_, '_>, name: &str, words: &'static [&'static str]) -> PyResult<&'static str> {
    let text = given.extract::<&str>();
    let found = text.as_ref().ok().and_then(|text| words.iter().find(|word| *word == text));
    found.copied().ok_or_else(|| {
        let (last, before) = words.split_last().expect("there are words");
        let before: Vec<String> = before.iter().map(|word| format!("{word:?}")).collect();
        let shown = given.repr().map_or("something else".to_owned(), |shown| shown.to_string());
        let problem = format!("{name} must be {} or {last:?}, not {shown}", before.join(", "));
        if text.is_ok() { PyValueError::new_err(problem) } else { PyTypeError::new_err(problem) }
    })
}

pub(crate) const AUTORESET: Reader<&'static str> =
    |given| one_of(given, "autoreset", &["next_step", "same_step", "disabled"]);
pub(crate) const DTYPE: Reader<&'static str> = |given| one_of(given, "dtype", &["float32", "uint8"]);
pub(crate) const ROOT: Reader<&'static str> = |given| one_of(given, "root", &["gumbel", "puct"]);
pub(crate) const SEAT: Reader<Option<&'static str>> = |given| match given.is_none() {
    true => Ok(None),
    false => one_of(given, "seat", &["white", "black", "random"]).map(Some),
};

/// What [`ROOT`] has read.
pub(crate) fn root(name: &str) -> Root {
    if name == "gumbel" { Root::Gumbel } else { Root::Puct }
}

fn flag(given: Given<'_, '_>, name: &str) -> PyResult<bool> {
    let found = given.get_type().name()?;
    given.extract().map_err(|_| PyTypeError::new_err(format!("{name} must be True or False, not {found}")))
}

pub(crate) const PACKED: Reader<bool> = |given| flag(given, "packed");
pub(crate) const THREATS: Reader<bool> = |given| flag(given, "threats");
pub(crate) const NOISE: Reader<bool> = |given| flag(given, "noise");
pub(crate) const PAD: Reader<bool> = |given| flag(given, "pad");

pub(crate) const SPEC: Reader<String> = |given| {
    let found = given.get_type().name()?;
    spec(given).ok_or_else(|| PyTypeError::new_err(format!("spec must be a text such as \"greedy\", not {found}")))
};

/// The spec of an agent: a text, or the path of a file or run.
pub(crate) fn spec(given: Given<'_, '_>) -> Option<String> {
    let path = || given.extract::<PathBuf>().ok()?.into_os_string().into_string().ok();
    given.extract::<String>().ok().or_else(path)
}

/// A seed that nobody has drawn before, from the operating system: also a child made by `fork` gets another one.
pub(crate) fn entropy(py: Python<'_>) -> PyResult<u64> {
    let bytes = py.import("os")?.call_method1("urandom", (size_of::<u64>(),))?;
    Ok(u64::from_le_bytes(bytes.extract()?))
}

/// The seeds of a reset.
pub(crate) enum Seeds {
    None,
    One(u64),
    /// One for each slot.
    Each(Vec<u64>),
}

/// A seed, or a sequence of them.
pub(crate) fn seeds(given: Given<'_, '_>) -> PyResult<Seeds> {
    if given.is_none() {
        return Ok(Seeds::None);
    }
    let Ok(list) = given.try_iter() else {
        return Ok(Seeds::One(SEED(given)?));
    };
    let seeds = list.map(|one| SEED(&one?)).collect::<PyResult<Vec<u64>>>()?;
    Ok(Seeds::Each(seeds))
}
