//! Work on other threads, with Python's lock released and Ctrl-C honoured.
//!
//! The user's functions are called by the thread that called from Python. So settings of a thread, such as
//! `torch.no_grad()`, hold, and one thread's tree work overlaps with the evaluation of another one's leaves.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use jarmo_host::program::cores;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often a waiting thread looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(20);

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

/// Work for the thread that called from Python.
type Job = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// The thread that called from Python, which alone calls the user's functions. The default answers nothing.
#[derive(Clone)]
pub struct Caller {
    jobs: Sender<Option<Job>>, // `None` when all is done
    stop: Arc<AtomicBool>,
}

impl Default for Caller {
    fn default() -> Caller {
        Caller { jobs: mpsc::channel().0, stop: Arc::default() }
    }
}

impl Caller {
    /// Does something in the thread of the caller. `None` if it failed, or something before it.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = mpsc::channel();
        let job = move |py: Python<'_>| {
            let _ = answer.send(work(py)?); // this function waits for it
            Ok(())
        };
        let sent = !self.has_failed() && self.jobs.send(Some(Box::new(job))).is_ok();
        let done = sent.then(|| answered.recv().ok()).flatten();
        if done.is_none() {
            self.stop.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Whether a call failed, or Ctrl-C came. No result counts from then on.
    pub(crate) fn has_failed(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs some work on another thread with Python's lock released, and what it asks of its caller on this one. After an
/// error, or Ctrl-C, `stop` is set, nothing is done for the work any more, and the exception is raised when it has ended.
pub(crate) fn serve<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce(&Caller) -> T + Send,
) -> PyResult<T> {
    stop.store(false, Ordering::Relaxed);
    let (jobs, mut waiting) = mpsc::channel();
    let caller = Caller { jobs, stop: stop.clone() };
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&caller)));
            let _ = caller.jobs.send(None); // the loop below waits for it
            result
        });
        let mut failure = None;
        loop {
            let waiting = &mut waiting; // exclusive, so that it may cross to a thread without Python's lock
            let job = py.detach(move || waiting.recv_timeout(TICK));
            if failure.is_none() {
                failure = py.check_signals().err();
            }
            match job {
                Ok(Some(job)) if failure.is_none() => failure = job(py).err(),
                Ok(None) => break,
                Ok(Some(_)) | Err(_) => {}
            }
            if failure.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        let result = worker.join().expect("a panic is caught");
        match failure {
            Some(error) => Err(error),
            None => Ok(result.unwrap_or_else(|panic| resume_unwind(panic))),
        }
    })
}
