//! The time that a run takes, over all processes that worked on it.

use std::time::Instant;

use cpu_time::ProcessTime;

pub(super) struct Clock {
    earlier: f64,     // seconds of earlier processes
    earlier_cpu: f64, // the same of the processor
    started: Instant,
    cpu_started: ProcessTime,
}

impl Clock {
    /// Continues after these seconds, and these of the processor.
    pub(super) fn after(earlier: f64, earlier_cpu: f64) -> Clock {
        Clock {
            earlier,
            earlier_cpu,
            started: Instant::now(),
            cpu_started: ProcessTime::now(),
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    /// Of all threads together.
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.earlier_cpu + self.cpu_started.elapsed().as_secs_f64()
    }
}
