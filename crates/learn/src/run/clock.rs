//! The time of a run, over all processes that worked on it.

use std::time::Instant;

use cpu_time::ProcessTime;

pub(super) struct Clock {
    earlier: f64,     // seconds of earlier processes
    earlier_cpu: f64, // processor seconds of earlier processes
    started: Instant,
    cpu_started: ProcessTime,
}

impl Clock {
    /// Continues after this many seconds and processor seconds.
    pub(super) fn after(earlier: f64, earlier_cpu: f64) -> Clock {
        Clock { earlier, earlier_cpu, started: Instant::now(), cpu_started: ProcessTime::now() }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    /// Processor time of all threads.
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.earlier_cpu + self.cpu_started.elapsed().as_secs_f64()
    }
}
