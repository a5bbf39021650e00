//! The sessions that are open, each behind its own lock, found by an id that cannot be guessed.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::ServerOptions;
use crate::session::{Job, Session};

/// How many sessions and connections there may be, and how long they are kept.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Sessions open at once.
    pub sessions: usize,
    /// A session without requests for this time is closed.
    pub idle: Duration,
    /// At the limit, a session without requests for this time is closed to make room.
    pub idle_if_full: Duration,
    /// Threads that think.
    pub thinkers: usize,
    /// Connections open at once; a page that waits for news holds one.
    pub connections: usize,
    /// Those from one address other than this machine's own.
    pub connections_from_one: usize,
    /// How long the head of a request, and then its body, may take to arrive, and how long a connection may be idle.
    pub patience: Duration,
    /// How long a connection is kept, however busy it is.
    pub visit: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            sessions: 500,
            idle: Duration::from_secs(4 * 3600),
            idle_if_full: Duration::from_secs(15 * 60),
            thinkers: jarmo::program::cores().min(8),
            connections: 800, // many systems give a program 1024 file handles
            connections_from_one: 100,
            patience: Duration::from_secs(15),
            visit: Duration::from_secs(600),
        }
    }
}

/// All sessions, and the queue of those that want to think.
pub(super) struct Rooms {
    pub(super) options: ServerOptions,
    open: Mutex<HashMap<String, Arc<Room>>>,
    queue: Mutex<VecDeque<Arc<Room>>>,
    waiting: Condvar,
    closed: AtomicBool,
}

/// One session.
pub(super) struct Room {
    inside: Mutex<Inside>,
    version: watch::Sender<u64>,
}

/// What is behind the lock of a session.
pub(super) struct Inside {
    pub(super) session: Session,
    pub(super) running: Option<(Arc<Job>, Arc<AtomicBool>)>,
    pub(super) queued: bool,
    pub(super) trouble: Option<String>, // why an agent could not answer
    last_asked: Instant,
}

impl Rooms {
    pub(super) fn new(options: ServerOptions) -> Rooms {
        Rooms {
            options,
            open: Mutex::default(),
            queue: Mutex::default(),
            waiting: Condvar::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// Opens a session and returns its id, or nothing if there are too many.
    pub(super) fn open(&self, session: Session) -> Option<(String, Arc<Room>)> {
        let mut open = lock(&self.open);
        self.clear(&mut open);
        if open.len() >= self.options.bounds.sessions {
            return None;
        }
        let id = new_id();
        let room = Arc::new(Room {
            inside: Mutex::new(Inside {
                session,
                running: None,
                queued: false,
                trouble: None,
                last_asked: Instant::now(),
            }),
            version: watch::Sender::new(1),
        });
        open.insert(id.clone(), Arc::clone(&room));
        Some((id, room))
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Room>> {
        let room = lock(&self.open).get(id).cloned()?;
        room.lock().last_asked = Instant::now();
        Some(room)
    }

    /// Closes sessions without recent requests.
    fn clear(&self, open: &mut HashMap<String, Arc<Room>>) {
        let bounds = self.options.bounds;
        let full = open.len() >= bounds.sessions;
        let idle = if full {
            bounds.idle_if_full
        } else {
            bounds.idle
        };
        open.retain(|_, room| {
            let inside = room.lock();
            let keep = inside.last_asked.elapsed() < idle;
            if let (false, Some((_, stop))) = (keep, &inside.running) {
                stop.store(true, Ordering::Relaxed);
            }
            keep
        });
    }

    /// Stops what a session no longer wants, and puts it into the queue if it wants to think.
    pub(super) fn schedule(&self, room: &Arc<Room>) {
        let mut inside = room.lock();
        if let Some((job, stop)) = &inside.running
            && !inside.session.wants(job)
        {
            stop.store(true, Ordering::Relaxed);
        }
        let idle = !inside.queued && inside.running.is_none();
        if idle && inside.trouble.is_none() && inside.session.job().is_some() {
            inside.queued = true;
            drop(inside);
            lock(&self.queue).push_back(Arc::clone(room));
            self.waiting.notify_one();
        }
    }

    /// The next session that wants to think, and how many more wait; nothing once the server stops.
    pub(super) fn next(&self) -> Option<(Arc<Room>, usize)> {
        let mut queue = lock(&self.queue);
        loop {
            if self.closed.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(room) = queue.pop_front() {
                return Some((room, queue.len()));
            }
            queue = self
                .waiting
                .wait(queue)
                .unwrap_or_else(|poison| poison.into_inner());
        }
    }

    /// Ends the thinking of all sessions.
    pub(super) fn close(&self) {
        let _queue = lock(&self.queue);
        self.closed.store(true, Ordering::Relaxed);
        self.waiting.notify_all();
        for room in lock(&self.open).values() {
            if let Some((_, stop)) = &room.lock().running {
                stop.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Room {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inside> {
        lock(&self.inside)
    }

    /// Tells those who wait that the session has changed.
    pub(super) fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    pub(super) fn version(&self) -> u64 {
        *self.version.borrow()
    }

    /// Waits for a version other than the one the page has, up to a limit.
    pub(super) async fn wait_past(&self, seen: u64, patience: Duration) {
        let mut versions = self.version.subscribe();
        let changed = versions.wait_for(|version| *version != seen);
        let _ = tokio::time::timeout(patience, changed).await; // then the old version is the answer
    }
}

/// A lock that survives a panic of another thread, because sessions change in whole steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// 128 random bits of the operating system.
fn new_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
