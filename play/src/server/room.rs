//! The sessions that are open, each behind its own lock, found by an id that cannot be guessed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::ServerOptions;
use super::assets::Asset;
use super::duel::{ABSENCE, Duel, Presence, Role};
use super::queue::Queue;
use super::saved;
use crate::lang::{Language, Texts};
use crate::machine::fresh_seed;
use crate::session::{Job, Session};
use jarmo_session::page::{Rejection, impossible};

/// How many sessions and connections there may be, and how long they are kept.
///
/// An address is a client. Behind a reverse proxy all clients have the address of the proxy; the limits for one
/// address must be raised there.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Sessions open at once.
    pub sessions: usize,
    /// Those opened from one address. It may have twice as many connections: a page holds one and makes short ones besides.
    pub per_address: usize,
    /// A session without requests for this time is closed.
    pub idle: Duration,
    /// At a limit, a session without requests for this time is closed to make room.
    pub idle_if_full: Duration,
    /// Threads that think.
    pub thinkers: usize,
    /// No answer takes longer than this, whatever the agent. It is divided among those who wait.
    pub thought: Duration,
    /// A session that is not listened to for this time is not thought about.
    pub absence: Duration,
    /// Connections open at once; a page that waits for news holds one.
    pub connections: usize,
    /// How long the head of a request, and then its body, may take to arrive, and how long a connection may be idle.
    pub patience: Duration,
    /// How long a connection is kept, however busy it is.
    pub visit: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            sessions: 500,
            per_address: 50,
            idle: Duration::from_secs(4 * 3600),
            idle_if_full: Duration::from_secs(120),
            thinkers: jarmo_host::program::cores().min(8),
            thought: Duration::from_secs(5),
            absence: Duration::from_secs(5),
            connections: 800, // many systems give a program 1024 file handles
            patience: Duration::from_secs(15),
            visit: Duration::from_secs(600),
        }
    }
}

/// All sessions, and the queue of those that want to think.
pub(super) struct Rooms {
    pub(super) options: ServerOptions,
    pub(super) queue: Queue,
    pub(super) texts: [OnceLock<Asset>; Language::ALL.len()], // built when first asked for
    open: Mutex<HashMap<String, Arc<Room>>>,
}

pub(super) struct Room {
    id: String,
    pub(super) client: IpAddr,
    inside: Mutex<Inside>,
    saving: Mutex<()>,
    pub(super) version: watch::Sender<u64>,
}

/// What is behind the lock of a session.
pub(super) struct Inside {
    pub(super) session: Session,
    pub(super) running: Option<Running>,
    pub(super) queued: bool,
    pub(super) duel: Option<Duel>, // in a game of two people
    pub(super) presence: Presence,
}

pub(super) struct Running {
    pub(super) job: Arc<Job>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) given_up: bool, // its answer is not wanted any more
}

/// A request that waits for news of a session.
pub(super) struct Listener {
    room: Arc<Room>,
    role: Role,
}

impl Rooms {
    pub(super) fn new(options: ServerOptions) -> Rooms {
        if let Some(folder) = &options.folder {
            saved::clean(folder);
        }
        Rooms { queue: Queue::new(options.bounds.thinkers), texts: Default::default(), options, open: Mutex::default() }
    }

    /// Opens a session for a client and returns its id. The session is made only once there is room for it.
    pub(super) fn open(
        &self,
        client: IpAddr,
        texts: &Texts,
        session: impl FnOnce() -> Result<Session, String>,
    ) -> Result<(String, Arc<Room>), Rejection> {
        let mut open = lock(&self.open);
        self.make_room(&mut open, client, texts)?;
        let session = session().map_err(impossible)?;
        let room = Room::new(new_id(), client, session, None);
        open.insert(room.id.clone(), Arc::clone(&room));
        Ok((room.id.clone(), room))
    }

    /// The session with this id, also if it is a game of two people on disk.
    fn get(&self, id: &str) -> Option<Arc<Room>> {
        let mut open = lock(&self.open);
        if let Some(room) = open.get(id) {
            return Some(Arc::clone(room));
        }
        let (session, duel) = saved::read(id, &self.options)?;
        // It is nobody's alone. Where there is no room, another game on disk makes some.
        let client = IpAddr::from([0, 0, 0, 0]);
        self.make_room(&mut open, client, Language::En.texts()).ok()?;
        let room = Room::new(id.to_owned(), client, session, Some(duel));
        open.insert(id.to_owned(), Arc::clone(&room));
        Some(room)
    }

    /// Keeps a game of two people on disk. Other sessions are the browsers' to keep.
    pub(super) async fn save(&self, room: &Arc<Room>) {
        let Some(folder) = self.options.folder.clone().filter(|_| room.lock().duel.is_some()) else {
            return;
        };
        let room = Arc::clone(room);
        let written = tokio::task::spawn_blocking(move || {
            let _turn = lock(&room.saving); // the latest content is written last
            let content = saved::content(&room.lock());
            if let Some(content) = content {
                saved::write(&folder, &room.id, &content);
            }
        });
        let _ = written.await; // a game that is not written is played all the same
    }

    /// The session of a key, and what the key allows. The key of a seat is the id, a dot, and the secret of the seat.
    pub(super) fn find(&self, key: &str) -> Option<(Arc<Room>, Role)> {
        let (id, secret) = match key.split_once('.') {
            Some((id, secret)) => (id, Some(secret)),
            None => (key, None),
        };
        let room = self.get(id)?;
        let mut inside = room.lock();
        inside.presence.notice();
        let role = match (&mut inside.duel, secret) {
            (None, None) => Role::Owner,
            (Some(_), None) => Role::Watcher,
            (Some(duel), Some(secret)) => {
                let person = duel.person(secret)?;
                if !duel.is_here(person) {
                    room.changed();
                }
                duel.presence(person).notice();
                Role::Seat(person)
            }
            (None, Some(_)) => return None,
        };
        drop(inside);
        Some((room, role))
    }

    /// Closes sessions that were idle for long. At a limit, one of those that were idle for some time makes room:
    /// a session of this client, or of the client that has most.
    fn make_room(&self, open: &mut HashMap<String, Arc<Room>>, client: IpAddr, texts: &Texts) -> Result<(), Rejection> {
        let bounds = &self.options.bounds;
        for (_, room) in open.extract_if(|_, room| room.idle() >= bounds.idle) {
            room.give_up();
        }
        let mut held: HashMap<IpAddr, usize> = HashMap::new();
        for room in open.values() {
            *held.entry(room.client).or_default() += 1;
        }
        let (among, refusal) = if held.get(&client).copied().unwrap_or(0) >= bounds.per_address {
            let message = texts.fill("too_many_games", &[("n", &bounds.per_address)]);
            (Some(client), Rejection(429, message))
        } else if open.len() >= bounds.sessions {
            (None, Rejection(503, texts.get("server_full").to_owned()))
        } else {
            return Ok(());
        };
        let idle = open
            .iter()
            .filter(|(_, room)| among.is_none_or(|client| room.client == client))
            .map(|(id, room)| (held[&room.client], room.idle(), id))
            .filter(|(_, idle, _)| *idle >= bounds.idle_if_full)
            .max();
        let (.., id) = idle.ok_or(refusal)?;
        let id = id.clone();
        if let Some(room) = open.remove(&id) {
            room.give_up();
        }
        Ok(())
    }

    /// Stops what a session no longer wants, and puts it into the queue if it wants to think.
    pub(super) fn schedule(&self, room: &Arc<Room>) {
        let mut inside = room.lock();
        if let Some(running) = &inside.running
            && !inside.session.wants(&running.job)
        {
            running.stop.store(true, Ordering::Relaxed);
        }
        let idle = !inside.queued && inside.running.is_none();
        if idle && inside.session.job().is_some() {
            inside.queued = true;
            drop(inside);
            self.queue.push(Arc::clone(room));
        }
    }

    /// Ends the thinking of all sessions.
    pub(super) fn close(&self) {
        self.queue.close();
        for room in lock(&self.open).values() {
            room.give_up();
        }
    }
}

impl Room {
    fn new(id: String, client: IpAddr, session: Session, duel: Option<Duel>) -> Arc<Room> {
        // A page that has a version of a server before this one takes those of this one as newer.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let first = now.map_or(1, |now| now.as_millis() as u64);
        let mut presence = Presence::default();
        presence.notice();
        Arc::new(Room {
            id,
            client,
            inside: Mutex::new(Inside { session, running: None, queued: false, duel, presence }),
            saving: Mutex::default(),
            version: watch::Sender::new(first),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inside> {
        lock(&self.inside)
    }

    /// Tells those who wait that the session has changed.
    pub(super) fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    /// Waits for a version other than the one the page has, up to a limit.
    pub(super) async fn wait_past(&self, seen: u64, patience: Duration) {
        let mut versions = self.version.subscribe();
        let changed = versions.wait_for(|version| *version != seen);
        let _ = tokio::time::timeout(patience, changed).await; // then the old version is the answer
    }

    /// Counts a request that waits for news, until it ends or its connection is closed.
    pub(super) fn listen(self: &Arc<Room>, role: Role) -> Listener {
        let mut inside = self.lock();
        inside.presence.enter();
        if let (Some(duel), Role::Seat(person)) = (&mut inside.duel, role) {
            duel.presence(person).enter();
        }
        drop(inside);
        Listener { room: Arc::clone(self), role }
    }

    /// How long the session has had no request.
    pub(super) fn idle(&self) -> Duration {
        self.lock().presence.idle()
    }

    /// Stops the search that runs, and forgets it: the session stays as it is.
    pub(super) fn give_up(&self) {
        if let Some(running) = &mut self.lock().running {
            running.given_up = true;
            running.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut inside = self.room.lock();
        inside.presence.leave();
        let (Some(duel), Role::Seat(person)) = (&mut inside.duel, self.role) else {
            return;
        };
        duel.presence(person).leave();
        drop(inside);
        let room = Arc::clone(&self.room);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(ABSENCE).await;
                let here = |duel: &Duel| duel.is_here(person);
                if !room.lock().duel.as_ref().is_some_and(here) {
                    room.changed(); // the other person is told
                }
            });
        }
    }
}

/// A lock that survives a panic of another thread, because sessions change in whole steps.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// 128 random bits of the operating system.
pub(super) fn new_id() -> String {
    format!("{:016x}{:016x}", fresh_seed(), fresh_seed())
}
