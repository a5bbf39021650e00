//! Bounds of the numbers that users give: options of the programs, settings of agents and of runs.
//!
//! Every such number has bounds that its error message names, and is checked before anything starts. The bounds are far
//! beyond useful values. They keep programs from running out of memory or time because of a slip.

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

/// Threads of a command.
pub const THREADS: NumberRange<u64> = NumberRange::new(1, 1024);
/// Seeds of random numbers.
pub const SEED: NumberRange<u64> = NumberRange::new(0, u64::MAX);
/// Simulations per decision in the spec of an agent; only networks play without any.
pub const SIMULATIONS: NumberRange<u64> = NumberRange::new(0, 1_000_000_000);
/// Nodes per decision in the spec of an agent.
pub const NODES: NumberRange<u64> = NumberRange::new(1, 1_000_000_000_000);
/// Simulations or nodes per decision that override the numbers of several agents.
pub const BUDGET: NumberRange<u64> = NumberRange::new(1, SIMULATIONS.most);
/// The best lines that alpha-beta scores exactly.
pub const LINES: NumberRange<u64> = NumberRange::new(1, 64);
/// Megabytes of a tree or a transposition table.
pub const MEGABYTES: NumberRange<u64> = NumberRange::new(1, 1 << 16);
/// PUCT's weight of exploration.
pub const EXPLORATION: NumberRange<f64> = NumberRange::new(0.0, 100.0);
/// PUCT's reduction of unvisited actions.
pub const UNVISITED_REDUCTION: NumberRange<f64> = NumberRange::new(0.0, 100.0);
/// The softmax temperature of priors.
pub const TEMPERATURE: NumberRange<f64> = NumberRange::new(0.01, 100.0);
/// The share of the most visits from which an action competes for being played.
pub const CONTENDER: NumberRange<f64> = NumberRange::new(0.001, 1.0);
/// Games of a match. A tournament schedules all games in memory before the first one.
pub const MATCH_GAMES: NumberRange<u64> = NumberRange::new(2, 1_000_000);
/// Games that are searched or stepped in parallel.
pub const PARALLEL_GAMES: NumberRange<u64> = NumberRange::new(1, 1 << 20);
/// Random actions at the start of a game.
pub const RANDOM_PLIES: NumberRange<u64> = NumberRange::new(0, 1000);
/// The limit on the length of a game; 0 for none.
pub const MAX_PLIES: NumberRange<u64> = NumberRange::new(0, 1_000_000);
/// Plies without a capture after which tammi is drawn.
pub const QUIET_LIMIT: NumberRange<u64> = NumberRange::new(1, MAX_QUIET_LIMIT as u64);
/// Milliseconds per move: at most a day.
pub const MILLISECONDS: NumberRange<u64> = NumberRange::new(1, 24 * 60 * 60 * 1000);
/// Seconds of a measurement, or between two saves.
pub const SECONDS: NumberRange<f64> = NumberRange::new(0.001, 3600.0);
/// Learning steps of a run, and limits of them; as a limit, 0 is none.
pub const STEPS: NumberRange<u64> = NumberRange::new(0, 1_000_000_000_000);
/// Minutes of a run; as a limit, 0 is none.
pub const MINUTES: NumberRange<f64> = NumberRange::new(0.0, 10_000_000.0);
/// Minutes of processor time of a run; as a limit, 0 is none.
pub const CPU_MINUTES: NumberRange<f64> = NumberRange::new(0.0, 1_000_000_000.0);
/// Ports of this machine; 0 stands for any free one.
pub const PORT: NumberRange<u64> = NumberRange::new(0, u16::MAX as u64);
/// Positions or samples per batch.
pub const BATCH: NumberRange<u64> = NumberRange::new(1, 1 << 16);

/// The bounds of a setting, whatever the kind of its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Those of a whole number.
    Whole(NumberRange<u64>),
    /// Those of a real number.
    Real(NumberRange<f64>),
}

impl Bounds {
    /// Those of a share or a probability.
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

    /// Whether a number is inside. NaN is not.
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
    /// Reads a number. The error names the bounds.
    pub fn parse<T: TryFrom<N>>(self, text: &str) -> Result<T, String> {
        let number = text.parse().ok().filter(|&number| self.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| format!("expected {self}"))
    }

    /// [`NumberRange::parse`] as a function, for the options of a program.
    pub fn parser<T: TryFrom<N>>(self) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
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
