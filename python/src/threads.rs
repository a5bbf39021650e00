//! Work on other threads, with Python's lock released and Ctrl-C honoured.
//!
//! The user's functions are called by the thread that called from Python. So settings of a thread, such as
//! `torch.no_grad()`, hold, and one thread's tree work overlaps with the evaluation of another one's leaves.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use jarmo_host::program::cores;
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::refusal::Checked;

/// How often a waiting thread looks for Ctrl-C.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// The number of threads to use: the given one, or one per core.
pub(crate) fn count(threads: Option<u32>) -> usize {
    threads.map_or(cores(), |threads| threads as usize)
}

/// Threads of the process that started them.
pub(crate) struct Threads {
    process: u32,
    pool: Arc<ThreadPool>,
}

impl Threads {
    pub(crate) fn start(count: usize) -> Checked<Threads> {
        let pool = ThreadPoolBuilder::new().num_threads(count).build()?;
        Ok(Threads { process: process::id(), pool: Arc::new(pool) })
    }

    /// The threads. A child made by `fork` has none of its parent's, so it gets new ones.
    pub(crate) fn get(&mut self) -> Checked<&Arc<ThreadPool>> {
        if self.process != process::id() {
            let own = Threads::start(self.pool.current_num_threads())?;
            mem::forget(mem::replace(self, own)); // it cannot be shut down, because its threads do not exist here
        }
        Ok(&self.pool)
    }
}

/// The threads of this process, one per core.
pub(crate) fn pool() -> Arc<ThreadPool> {
    static POOL: Mutex<Option<Threads>> = Mutex::new(None);
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = match &mut *known {
        Some(threads) => threads.get(),
        None => Threads::start(cores()).map(|threads| &known.insert(threads).pool),
    };
    pool.expect("the system starts threads").clone()
}

/// Work of agents that answer at once is done by the threads of this process. A function of the user waits for its caller,
/// who may call this library meanwhile: it has a thread of its own, so that no other work waits for it.
pub(crate) fn pool_for(is_function: bool) -> Arc<ThreadPool> {
    match is_function {
        false => pool(),
        true => Threads::start(1).expect("the system starts threads").pool,
    }
}

/// What an object of Python holds until it is closed: the library's part, and the user's objects with it, so that to close
/// it gives all of that back.
///
/// **No lock is held while anything else runs.** Whoever works takes what is held out and puts it back. So nobody waits for
/// a lock with Python's lock in hand, the garbage collector can look in at any time, and a call from within a call is an
/// error.
pub(crate) struct Closable<T> {
    name: &'static str,
    /// What a thread is told while another one is at work.
    busy: &'static str,
    held: Mutex<Held<T>>,
}

enum Held<T> {
    Free(T),
    /// This thread has taken it out.
    Taken(ThreadId),
    /// It was lost in a panic.
    Broken,
    Closed,
}

impl<T> Closable<T> {
    pub(crate) fn new(name: &'static str, busy: &'static str, held: T) -> Closable<T> {
        Closable { name, busy, held: Mutex::new(Held::Free(held)) }
    }

    /// Does something with what is held.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        struct Lent<'a, T>(&'a Closable<T>, Option<T>);

        impl<T> Drop for Lent<'_, T> {
            fn drop(&mut self) {
                let back = self.1.take().filter(|_| !thread::panicking());
                *self.0.lock() = back.map_or(Held::Broken, Held::Free);
            }
        }

        let mut held = self.lock();
        let taken = match mem::replace(&mut *held, Held::Taken(thread::current().id())) {
            Held::Free(taken) => taken,
            other => {
                let name = self.name;
                let error = match other {
                    Held::Broken => PyRuntimeError::new_err(format!("this {name} broke in an earlier call")),
                    Held::Closed => PyValueError::new_err(format!("this {name} is closed")),
                    _ => self.is_busy(),
                };
                *held = other;
                return Err(error);
            }
        };
        drop(held);
        let mut lent = Lent(self, Some(taken));
        Ok(work(lent.1.as_mut().expect("it is put back at the end")))
    }

    /// Gives what is held back, as soon as no other thread works with it. A thread cannot close what it works with itself.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        while let Some(worker) = self.give_back() {
            if worker == thread::current().id() {
                return Err(self.is_busy());
            }
            py.detach(|| thread::sleep(TICK));
            py.check_signals()?;
        }
        Ok(())
    }

    /// Gives what is held back, unless a thread works with it: then this is the one.
    pub(crate) fn give_back(&self) -> Option<ThreadId> {
        let mut held = self.lock();
        if let Held::Taken(worker) = *held {
            return Some(worker);
        }
        let before = mem::replace(&mut *held, Held::Closed);
        drop(held); // what is dropped next are objects of the user, too, which may call this one
        drop(before);
        None
    }

    /// Shows what is held to the garbage collector. What a thread works with it does not see, and so it keeps it.
    pub(crate) fn traverse(&self, show: impl FnOnce(&T) -> Result<(), PyTraverseError>) -> Result<(), PyTraverseError> {
        match self.held.try_lock().as_deref() {
            Ok(Held::Free(held)) => show(held),
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_busy(&self) -> PyErr {
        PyRuntimeError::new_err(format!("this {} is {}", self.name, self.busy))
    }
}

/// The lock, as soon as it is free; `None` if the work is stopped before. Threads that wait here must not hold Python's
/// lock.
pub(crate) fn lock_unless<'a, T>(stop: &AtomicBool, lock: &'a Mutex<T>) -> Option<MutexGuard<'a, T>> {
    while !stop.load(Ordering::Relaxed) {
        match lock.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(TICK),
        }
    }
    None
}

/// Work for the thread that called from Python.
type Job = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// The thread that called from Python, which alone calls the user's functions. The default answers nothing.
#[derive(Clone)]
pub(crate) struct Caller {
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

    /// Does something in the thread of the caller, some time later.
    pub(crate) fn post(&self, work: impl FnOnce(Python<'_>) -> PyResult<()> + Send + 'static) {
        let _ = self.jobs.send(Some(Box::new(work))); // nobody waits for it
    }

    /// What is set when a call failed, or Ctrl-C came.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
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
            if let Ok(None) = job {
                break; // what is done counts, even if Ctrl-C came meanwhile: Python raises it after this call
            }
            if failure.is_none() {
                failure = py.check_signals().err();
            }
            if let (Ok(Some(job)), None) = (job, &failure) {
                failure = job(py).err();
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

/// Runs some work on another thread with Python's lock released. After Ctrl-C the exception is raised at once, and the work
/// ends unheeded.
pub(crate) fn abandon_on_interrupt<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, mut result) = mpsc::channel();
    let worker = thread::spawn(move || {
        let _ = done.send(work()); // nobody waits for it after Ctrl-C
    });
    loop {
        let waiting = &mut result;
        match py.detach(move || waiting.recv_timeout(TICK)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => resume_unwind(worker.join().expect_err("it sends unless it panics")),
        }
    }
}
