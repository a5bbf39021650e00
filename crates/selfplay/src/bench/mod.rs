//! Measures the speed of parts of the program: environment, networks, search, self-play.

mod env;
mod net;
mod search;
mod selfplay;

use std::fmt;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::Serialize;

pub use env::{EnvSpeed, env};
pub use net::{NetSpeed, net};
pub use search::{SearchSpeed, search};
pub use selfplay::{SelfPlaySpeed, selfplay};

use jarmo_core::net::{FrozenNet, Network, Traffic};

/// The number of runs. Their median is reported, or that of fewer if the measurement is ended.
const RUNS: usize = 5;

/// How long a measurement takes, and who follows it. A plain duration has no watcher.
#[derive(Clone, Copy)]
pub struct RunTime<'a> {
    time: Duration, // of each run
    watch: &'a (dyn Fn(f64) -> bool + Sync),
}

impl<'a> RunTime<'a> {
    /// Runs of this duration. Several times a second, `watch` is told what share of the measurement is done; it ends it
    /// by returning `false`. The result then covers the time so far.
    pub fn watched(time: Duration, watch: &'a (dyn Fn(f64) -> bool + Sync)) -> RunTime<'a> {
        RunTime { time, watch }
    }
}

impl From<Duration> for RunTime<'_> {
    fn from(time: Duration) -> Self {
        RunTime { time, watch: &|_| true }
    }
}

/// What moved between a network and its device.
#[derive(Clone, Debug, Serialize)]
struct DeviceUse {
    positions_per_batch: f64,
    bytes_uploaded: f64, // per position, as the next one
    bytes_read: f64,
    kernels: f64, // per batch
}

impl DeviceUse {
    /// That of a network, if it is not on the CPU.
    fn of(net: &FrozenNet) -> Option<DeviceUse> {
        let traffic = net.traffic().filter(|_| net.groups() > 1);
        let Traffic { batches, positions, uploaded, read, kernels, .. } = traffic?;
        let per = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
        Some(DeviceUse {
            positions_per_batch: per(positions, batches),
            bytes_uploaded: per(uploaded, positions),
            bytes_read: per(read, positions),
            kernels: per(kernels, batches),
        })
    }
}

impl fmt::Display for DeviceUse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceUse { positions_per_batch, bytes_uploaded, bytes_read, kernels } = self;
        write!(
            out,
            "per position {bytes_uploaded:.0} bytes up and {bytes_read:.0} back; per batch {positions_per_batch:.0} \
             positions, {kernels:.0} kernels, 1 synchronisation"
        )
    }
}

/// Counts of the work done in a run, and its time.
struct Measured<const COUNTS: usize> {
    counts: [u64; COUNTS],
    seconds: f64,
    cpu_seconds: f64, // of all threads
}

impl<const COUNTS: usize> Measured<COUNTS> {
    /// Repeats some work, which returns its counts, for at least this time, or until `goes_on` is false. `goes_on` is
    /// called several times a second.
    fn of(
        at_least: Duration,
        mut goes_on: impl FnMut(Duration) -> bool,
        mut work: impl FnMut() -> [u64; COUNTS],
    ) -> Measured<COUNTS> {
        const ASK_EVERY: Duration = Duration::from_millis(100);
        let (start, cpu_start) = (Instant::now(), ProcessTime::now());
        let mut counts = work();
        let mut next = ASK_EVERY;
        loop {
            let passed = start.elapsed();
            if passed >= at_least || (passed >= next && !goes_on(passed)) {
                break;
            }
            if passed >= next {
                next = passed + ASK_EVERY;
            }
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

/// The runs of a measurement, at least one.
struct Runs<const COUNTS: usize>(Vec<Measured<COUNTS>>);

impl<const COUNTS: usize> Runs<COUNTS> {
    /// Repeats the work in several runs of this time each, after a shorter run to warm up.
    fn of(run: RunTime<'_>, mut work: impl FnMut() -> [u64; COUNTS]) -> Runs<COUNTS> {
        let RunTime { time, watch } = run;
        let warm_up = time / 4;
        let all = (warm_up + time * RUNS as u32).as_secs_f64();
        let mut measure = |before: Duration, time: Duration| {
            let measured = Measured::of(time, |passed| watch((before + passed).as_secs_f64() / all), &mut work);
            let is_whole = measured.seconds >= time.as_secs_f64();
            (measured, is_whole)
        };
        let mut before = warm_up;
        let mut runs = Vec::new();
        let (first, mut goes_on) = measure(Duration::ZERO, warm_up);
        while goes_on && runs.len() < RUNS {
            let run;
            (run, goes_on) = measure(before, time);
            before += time;
            if goes_on || runs.is_empty() {
                runs.push(run);
            }
        }
        if runs.is_empty() {
            runs.push(first);
        }
        Runs(runs)
    }

    fn median(&self, number: impl Fn(&Measured<COUNTS>) -> f64) -> f64 {
        let mut numbers: Vec<f64> = self.0.iter().map(number).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers[numbers.len() / 2]
    }

    /// The sum of one count over all runs.
    fn sum(&self, count: usize) -> u64 {
        self.0.iter().map(|run| run.counts[count]).sum()
    }
}
