//! Ctrl-C, and the signals that end a program.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Failure;

/// The exit status after Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// A flag that the first Ctrl-C sets. The second Ctrl-C exits at once.
pub(super) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    stop_or(|| exit(i32::from(INTERRUPTED)))
}

/// A flag that the first Ctrl-C sets. The second Ctrl-C calls `again`.
pub(super) fn stop_or(again: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    listen(move |is_hangup| {
        // A terminal that closes can send SIGHUP twice.
        if asked.swap(true, Ordering::Relaxed) && !is_hangup {
            again();
        }
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Calls `heard` at every SIGINT, SIGTERM and SIGHUP, and tells it whether it is SIGHUP. If that is ignored, as after
/// `nohup`, it stays ignored.
#[cfg(unix)]
fn listen(heard: impl Fn(bool) + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    std::thread::spawn(move || signals.forever().for_each(|signal| heard(signal == SIGHUP)));
    Ok(())
}

/// Whether this process ignores a signal. Only Linux tells; elsewhere the answer is no.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    ignored.is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
fn listen(heard: impl Fn(bool) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || heard(false))
}

/// Ends a command that Ctrl-C stopped, after its result so far, with a word on what that is.
pub(super) fn interrupted(stop: &AtomicBool, what: &str) -> Result<(), Failure> {
    if !stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    eprintln!("stopped; {what}");
    Err(Failure::Status(INTERRUPTED))
}
