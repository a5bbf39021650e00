//! How to follow a measurement, and to stop it.

use std::sync::atomic::{AtomicBool, Ordering};

/// Follows a measurement from any thread. The unit type ignores it.
pub trait Watch: Sync {
    /// What ends the measurement early once it is set. Its result is then incomplete.
    fn stop(&self) -> Option<&AtomicBool> {
        None
    }

    /// Reports how much of a part is done, and how much there is in all.
    fn progress(&self, _part: &'static str, _done: u64, _total: u64) {}

    /// Whether the measurement is to end early.
    fn is_stopped(&self) -> bool {
        self.stop().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Watch for () {}
