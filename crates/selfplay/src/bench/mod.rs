//! Speed measurements of the parts: environment, networks, search, self-play.

mod env;
mod net;
mod search;
mod selfplay;

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

pub use env::{EnvSpeed, env};
pub use net::{NetSpeed, net};
pub use search::{SearchSpeed, search};
pub use selfplay::{SelfPlaySpeed, selfplay};

/// The number of runs. Their median is reported.
const RUNS: usize = 5;

/// Counts of the work done in a run, and its time.
struct Measured<const COUNTS: usize> {
    counts: [u64; COUNTS],
    seconds: f64,
    cpu_seconds: f64, // of all threads
}

impl<const COUNTS: usize> Measured<COUNTS> {
    /// Repeats some work, which returns its counts, for at least this time.
    fn of(at_least: Duration, mut work: impl FnMut() -> [u64; COUNTS]) -> Measured<COUNTS> {
        let (start, cpu_start) = (Instant::now(), ProcessTime::now());
        let mut counts = work();
        while start.elapsed() < at_least {
            for (sum, count) in counts.iter_mut().zip(work()) {
                *sum += count;
            }
        }
        Measured { counts, seconds: start.elapsed().as_secs_f64(), cpu_seconds: cpu_start.elapsed().as_secs_f64() }
    }

    fn per_s(&self, count: usize) -> f64 {
        self.counts[count] as f64 / self.seconds
    }

    fn per_cpu_s(&self, count: usize) -> f64 {
        self.counts[count] as f64 / self.cpu_seconds
    }
}

struct Runs<const COUNTS: usize>([Measured<COUNTS>; RUNS]);

impl<const COUNTS: usize> Runs<COUNTS> {
    /// Repeats the work in several runs of this time each, after a shorter run to warm up.
    fn of(run_time: Duration, mut work: impl FnMut() -> [u64; COUNTS]) -> Runs<COUNTS> {
        Measured::of(run_time / 4, &mut work);
        Runs([(); RUNS].map(|()| Measured::of(run_time, &mut work)))
    }

    fn median(&self, number: impl Fn(&Measured<COUNTS>) -> f64) -> f64 {
        let mut numbers = self.0.each_ref().map(number);
        numbers.sort_unstable_by(f64::total_cmp);
        numbers[RUNS / 2]
    }

    /// The sum of a count over all runs.
    fn sum(&self, count: usize) -> u64 {
        self.0.iter().map(|run| run.counts[count]).sum()
    }
}
