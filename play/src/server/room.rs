//! The sessions that are open, each behind its own lock, found by an id that cannot be guessed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::ServerOptions;
use super::assets::Asset;
use super::duel::{ABSENCE, Duel, Hashed, Presence, Role};
use super::queue::Queue;
use super::saved::{self, Saved};
use crate::lang::{Language, Texts};
use crate::machine::fresh_seed;
use crate::session::{Job, Session};
use jarmo_session::page::{Rejection, no_session};

/// How many sessions and connections there may be, and how long they are kept.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Sessions open at once.
    pub sessions: usize,
    /// Sessions open from one address; also the number of games of two people that are saved for it. It may have twice
    /// as many connections, because a page holds one and makes short ones, too.
    pub per_address: usize,
    /// Saved games of two people.
    pub kept: usize,
    /// A session without requests for this time is closed.
    pub idle: Duration,
    /// At a limit, a session without requests for this time is closed to make room.
    pub idle_if_full: Duration,
    /// Threads that search.
    pub thinkers: usize,
    /// The longest time for an answer of any agent. It is divided among the sessions that wait.
    pub thought: Duration,
    /// A session that nobody has listened to for this time gets no searches.
    pub absence: Duration,
    /// Connections open at once; a page that waits for news holds one.
    pub connections: usize,
    /// How long the head of a request, and then its body, may take to arrive, and how long a connection may be idle.
    pub patience: Duration,
    /// How long a connection is kept, however busy it is.
    pub visit: Duration,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            sessions: 500,
            per_address: 50,
            kept: 2000,
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
    saved: Option<Arc<Saved>>,
    open: Mutex<HashMap<String, Arc<Room>>>,
}

pub(super) struct Room {
    id: String,
    pub(super) client: IpAddr,
    inside: Mutex<Inside>,
    saving: Mutex<()>,
    pub(super) version: watch::Sender<u64>,
}

/// The data behind the lock of a session.
pub(super) struct Inside {
    pub(super) session: Session,
    pub(super) running: Option<Running>,
    pub(super) queued: bool,
    pub(super) duel: Option<Duel>, // in a game of two people
    pub(super) presence: Presence,
}

pub(super) struct Running {
    pub(super) job: Arc<Job>,
    pub(super) stop: Arc<AtomicBool>, // its answer is not wanted any more
}

/// A request that waits for news of a session.
pub(super) struct Listener {
    room: Arc<Room>,
    role: Role,
}

impl Rooms {
    pub(super) fn new(options: ServerOptions) -> Rooms {
        let saved = options.folder.clone().map(|folder| Arc::new(Saved::new(folder, &options.bounds)));
        let queue = Queue::new(options.bounds.thinkers);
        Rooms { queue, texts: Default::default(), saved, options, open: Mutex::default() }
    }

    /// Opens a session for a client and returns its id. The session is made only once there is room for it.
    pub(super) fn open(
        &self,
        client: IpAddr,
        texts: &Texts,
        session: impl FnOnce() -> Result<Session, Rejection>,
    ) -> Result<(String, Arc<Room>), Rejection> {
        let mut open = lock(&self.open);
        self.make_room(&mut open, client, texts)?;
        let session = session()?;
        let room = Room::new(new_id(), client, session, None);
        open.insert(room.id.clone(), Arc::clone(&room));
        Ok((room.id.clone(), room))
    }

    /// The session with this id. A game of two people on disk is opened for the client that asks for it.
    fn get(&self, id: &str, client: IpAddr, texts: &Texts) -> Result<Arc<Room>, Rejection> {
        let mut open = lock(&self.open);
        if let Some(room) = open.get(id) {
            return Ok(Arc::clone(room));
        }
        let saved = self.saved.as_ref().filter(|_| is_id(id));
        let found = saved.and_then(|saved| saved.read(id, &self.options.defaults));
        let (session, duel) = found.ok_or_else(no_session)?;
        self.make_room(&mut open, client, texts)?;
        let room = Room::new(id.to_owned(), client, session, Some(duel));
        open.insert(id.to_owned(), Arc::clone(&room));
        Ok(room)
    }

    /// Saves a game of two people on disk, and records whether that was possible. Browsers save all other games.
    pub(super) async fn save(&self, room: &Arc<Room>) {
        let Some(saved) = self.saved.clone().filter(|_| room.lock().duel.is_some()) else {
            return;
        };
        let saving = Arc::clone(room);
        let written = tokio::task::spawn_blocking(move || {
            let _turn = lock(&saving.saving); // the latest content is written last
            let (creator, content) = saved::content(&saving.lock())?;
            let (written, removed) = saved.write(&saving.id, creator, &content);
            saving.note_kept(written);
            Some(removed)
        });
        // Players of a game that is not kept see that, and play on.
        let removed = written.await.ok().flatten().unwrap_or_default();
        let open = lock(&self.open);
        for room in removed.iter().filter_map(|id| open.get(id)) {
            room.note_kept(false);
            room.changed();
        }
    }

    /// The session of a key, and what the key allows. The key of a seat is the id, a dot, and the secret of the seat.
    pub(super) async fn find(&self, key: &str, client: IpAddr, texts: &Texts) -> Result<(Arc<Room>, Role), Rejection> {
        let (id, secret) = match key.split_once('.') {
            Some((id, secret)) => (id, Some(Hashed::of(secret))),
            None => (key, None),
        };
        let room = self.get(id, client, texts)?;
        let now = Instant::now();
        if room.lock().duel.as_mut().is_some_and(|duel| duel.count_time(now)) {
            self.save(&room).await;
            room.changed();
        }
        let mut inside = room.lock();
        inside.presence.notice(now);
        if let (Some(saved), Some(_)) = (&self.saved, &inside.duel) {
            saved.touch(id);
        }
        let role = match (&mut inside.duel, secret) {
            (None, None) => Role::Owner,
            (Some(_), None) => Role::Watcher,
            (Some(duel), Some(secret)) => {
                let who = duel.person(&secret).ok_or_else(no_session)?;
                if !duel.is_here(who, now) {
                    room.changed();
                }
                duel.presence(who).notice(now);
                Role::Seat(who)
            }
            (None, Some(_)) => return Err(no_session()),
        };
        drop(inside);
        Ok((room, role))
    }

    /// Closes sessions that have been idle for long. At a limit, also closes one that has been idle for some time: a
    /// session of this client, or of the client that has the most.
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
        presence.notice(Instant::now());
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

    /// Notes whether a game of two people is on disk.
    fn note_kept(&self, kept: bool) {
        if let Some(duel) = &mut self.lock().duel {
            duel.kept = kept;
        }
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
        if let (Some(duel), Role::Seat(who)) = (&mut inside.duel, role) {
            duel.presence(who).enter();
        }
        drop(inside);
        Listener { room: Arc::clone(self), role }
    }

    /// How long the session has had no request.
    pub(super) fn idle(&self) -> Duration {
        self.lock().presence.idle(Instant::now())
    }

    /// Stops the search that runs, and forgets it: the session stays as it is.
    pub(super) fn give_up(&self) {
        if let Some(running) = &self.lock().running {
            running.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut inside = self.room.lock();
        inside.presence.leave();
        let (Some(duel), Role::Seat(who)) = (&mut inside.duel, self.role) else {
            return;
        };
        duel.presence(who).leave();
        drop(inside);
        let room = Arc::clone(&self.room);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(ABSENCE).await;
                let here = |duel: &Duel| duel.is_here(who, Instant::now());
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

/// Whether a text is like one of [`new_id`].
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}
