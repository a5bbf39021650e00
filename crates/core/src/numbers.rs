//! Bounds for the numbers that users enter: options of the programs, settings of agents and of runs.
//!
//! Every such number is checked before anything starts, and the error message prints its bounds. The bounds are far
//! beyond useful values. They only prevent a typing error from exhausting memory or time.

use std::fmt;
use std::str::FromStr;

use crate::games::tammi::MAX_QUIET_LIMIT;

/// The smallest and the largest allowed value of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRange<N> {
    /// The smallest allowed value.
    pub least: N,
    /// The largest allowed value.
    pub most: N,
}

/// The error for a text that is not a number within these bounds.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("expected {0}")]
pub struct NumberError<N>(pub NumberRange<N>);

/// Threads that a command uses.
pub const THREADS: NumberRange<u64> = NumberRange::new(1, 1024);
/// Seeds of random numbers.
pub const SEED: NumberRange<u64> = NumberRange::new(0, u64::MAX);
/// Simulations per decision in an agent's spec. Only networks can play with 0.
pub const SIMULATIONS: NumberRange<u64> = NumberRange::new(0, 1_000_000_000);
/// Nodes per decision in an agent's spec.
pub const NODES: NumberRange<u64> = NumberRange::new(1, 1_000_000_000_000);
/// Simulations or nodes per decision, as an option that overrides the specs of several agents.
pub const BUDGET: NumberRange<u64> = NumberRange::new(1, SIMULATIONS.most);
/// How many of the best lines alpha-beta scores exactly.
pub const LINES: NumberRange<u64> = NumberRange::new(1, 64);
/// The size of a search tree or a transposition table in MB.
pub const MEGABYTES: NumberRange<u64> = NumberRange::new(1, 1 << 16);
/// The softmax temperature of priors.
pub const TEMPERATURE: NumberRange<f64> = NumberRange::new(0.01, 100.0);
/// Games of a match. A tournament schedules all games in memory before the first one.
pub const MATCH_GAMES: NumberRange<u64> = NumberRange::new(2, 1_000_000);
/// Games that are searched or stepped together.
pub const PARALLEL_GAMES: NumberRange<u64> = NumberRange::new(1, 1 << 20);
/// Random plies at the start of a game.
pub const RANDOM_PLIES: NumberRange<u64> = NumberRange::new(0, 1000);
/// The move limit; 0 for none.
pub const MAX_PLIES: NumberRange<u64> = NumberRange::new(0, 1_000_000);
/// Plies without a capture after which tammi is drawn.
pub const QUIET_LIMIT: NumberRange<u64> = NumberRange::new(1, MAX_QUIET_LIMIT as u64);
/// Milliseconds per move: at most a day.
pub const MILLISECONDS: NumberRange<u64> = NumberRange::new(1, 24 * 60 * 60 * 1000);
/// Seconds that a measurement takes, or between two saves.
pub const SECONDS: NumberRange<f64> = NumberRange::new(0.001, 3600.0);
/// Training steps of a run. For a limit, 0 means none.
pub const STEPS: NumberRange<u64> = NumberRange::new(0, 1_000_000_000_000);
/// Minutes of a run. For a limit, 0 means none.
pub const MINUTES: NumberRange<f64> = NumberRange::new(0.0, 10_000_000.0);
/// CPU minutes of a run. For a limit, 0 means none.
pub const CPU_MINUTES: NumberRange<f64> = NumberRange::new(0.0, 1_000_000_000.0);
/// Network ports of this machine. 0 selects any free one.
pub const PORT: NumberRange<u64> = NumberRange::new(0, u16::MAX as u64);
/// Positions or samples per batch.
pub const BATCH: NumberRange<u64> = NumberRange::new(1, 1 << 16);

/// The bounds of a setting that may be an integer or a real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// The bounds of an integer.
    Whole(NumberRange<u64>),
    /// The bounds of a real number.
    Real(NumberRange<f64>),
}

impl Bounds {
    /// The bounds of a share or a probability.
    pub const SHARE: Bounds = Bounds::real(0.0, 1.0);

    /// Whole numbers from `least` to `most`, both included.
    pub const fn whole(least: u64, most: u64) -> Bounds {
        Bounds::Whole(NumberRange::new(least, most))
    }

    /// Real numbers from `least` to `most`, both included.
    pub const fn real(least: f64, most: f64) -> Bounds {
        Bounds::Real(NumberRange::new(least, most))
    }
}

impl<N: PartialOrd + Copy> NumberRange<N> {
    /// Numbers from `least` to `most`, both included.
    pub const fn new(least: N, most: N) -> NumberRange<N> {
        NumberRange { least, most }
    }

    /// Whether a number lies within the bounds. NaN does not.
    pub fn contains(self, number: N) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

impl NumberRange<u64> {
    /// The same bounds with 0 as the smallest value.
    pub const fn or_zero(self) -> NumberRange<u64> {
        NumberRange::new(0, self.most)
    }
}

impl<N: PartialOrd + Copy + FromStr + Send + Sync + 'static> NumberRange<N>
where
    NumberRange<N>: fmt::Display,
{
    /// Parses a number.
    pub fn parse<T: TryFrom<N>>(self, text: &str) -> Result<T, NumberError<N>> {
        let number = text.parse().ok().filter(|&number| self.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or(NumberError(self))
    }

    /// [`NumberRange::parse`] as a function, for the options of a program.
    pub fn parser<T: TryFrom<N>>(self) -> impl Fn(&str) -> Result<T, NumberError<N>> + Clone + Send + Sync + 'static {
        move |text| self.parse(text)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bounds::Whole(range) => range.fmt(out),
            Bounds::Real(range) => range.fmt(out),
        }
    }
}

impl fmt::Display for NumberRange<u64> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a whole number from {} to {}", self.least, self.most)
    }
}

impl fmt::Display for NumberRange<f64> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a number from {} to {}", self.least, self.most)
    }
}
