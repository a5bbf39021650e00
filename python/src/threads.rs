//! Work on other threads, with Python's lock released and Ctrl-C honoured.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use jarmo_host::program::cores;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often a waiting thread looks for Ctrl-C.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// The number of threads to use: the given one, or one per core.
pub(crate) fn count(threads: Option<u32>) -> usize {
    threads.map_or(cores(), |threads| threads as usize)
}

/// The threads of this process, one per core. A child made by `fork` has none of its parent's threads, so it gets
/// new ones.
pub(crate) fn pool() -> Arc<ThreadPool> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some((owner, pool)) = known.as_ref()
        && *owner == process
    {
        return pool.clone();
    }
    let builder = ThreadPoolBuilder::new().num_threads(cores());
    let pool = Arc::new(builder.build().expect("the system starts threads"));
    // The threads of a parent's pool do not exist here, so the pool cannot be shut down.
    std::mem::forget(known.replace((process, pool.clone())));
    pool
}

/// What an object of Python holds until it is closed, for one thread at a time.
pub(crate) struct Closable<T> {
    name: &'static str,
    /// What a thread is told while another one is at work.
    busy: &'static str,
    held: Mutex<Option<T>>, // `None` when closed
}

impl<T> Closable<T> {
    pub(crate) fn new(name: &'static str, busy: &'static str, held: T) -> Closable<T> {
        Closable { name, busy, held: Mutex::new(Some(held)) }
    }

    /// Does something with what is held.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let name = self.name;
        let mut held = self.held.try_lock().map_err(|error| {
            PyRuntimeError::new_err(match error {
                TryLockError::WouldBlock => format!("this {name} is {}", self.busy),
                TryLockError::Poisoned(_) => format!("this {name} broke in an earlier call"),
            })
        })?;
        let held = held.as_mut().ok_or_else(|| PyValueError::new_err(format!("this {name} is closed")))?;
        Ok(work(held))
    }

    /// Gives what is held back.
    pub(crate) fn close(&self) {
        if let Ok(mut held) = self.held.lock() {
            *held = None;
        }
    }
}

/// Runs some work on another thread with Python's lock released. On Ctrl-C `stop` is set, and the exception is
/// raised when the work has ended.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    stop.store(false, Ordering::Relaxed);
    let (sender, mut done) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let _ = sender.send(work()); // the receiver waits for it
        });
        let mut interrupted = Ok(());
        loop {
            let done = &mut done; // exclusive, so that it may cross to a thread without Python's lock
            match py.detach(move || done.recv_timeout(TICK)) {
                Ok(result) => return interrupted.map(|()| result),
                Err(RecvTimeoutError::Timeout) if interrupted.is_ok() => {
                    interrupted = py.check_signals();
                    stop.store(interrupted.is_err(), Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("the work panicked"),
            }
        }
    })
}
