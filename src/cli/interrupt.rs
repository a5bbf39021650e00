//! Ctrl-C.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Failure;

/// The exit status after Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// A flag that the first Ctrl-C sets. The second Ctrl-C exits at once.
pub(super) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            exit(i32::from(INTERRUPTED));
        }
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Ends a command that Ctrl-C stopped, after its result so far, with a word on what that is.
pub(super) fn interrupted(stop: &AtomicBool, what: &str) -> Result<(), Failure> {
    if !stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    eprintln!("stopped; {what}");
    Err(Failure::Status(INTERRUPTED))
}
