//! The threads that search. Clients take turns: each gets one thread for one search of one of its sessions. The more
//! clients wait, the shorter each search. No search is longer than the server's limit, or continues for a session that
//! nobody listens to.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::queue::Next;
use super::room::{Room, Rooms, Running};
use crate::agents::AgentCache;
use crate::error::SessionError;
use crate::machine;
use crate::session::Job;
use crate::thought::Time;

/// A thread without work for this time frees the memory of its agents.
const REST: Duration = Duration::from_secs(20);

/// Starts the threads; they end when the rooms close.
pub(super) fn start(rooms: &Arc<Rooms>) {
    for _ in 0..rooms.queue.threads {
        let rooms = Arc::clone(rooms);
        let runtime = Handle::current();
        thread::spawn(move || work(&rooms, &runtime));
    }
}

fn work(rooms: &Arc<Rooms>, runtime: &Handle) {
    let mut cache = AgentCache::default();
    loop {
        match rooms.queue.next(REST) {
            Next::End => return,
            Next::Rest => cache = AgentCache::default(),
            Next::Think(room, sharers) => think(rooms, runtime, &mut cache, &room, sharers),
        }
    }
}

fn think(rooms: &Arc<Rooms>, runtime: &Handle, cache: &mut AgentCache, room: &Arc<Room>, sharers: u32) {
    let bounds = &rooms.options.bounds;
    let Some((job, stop)) = take(room, bounds.absence) else {
        return;
    };
    let minder = runtime.spawn(mind(Arc::clone(room), bounds.absence));
    let time = Time { clock: machine::clock, stop: &stop, sharers, most: Some(bounds.thought) };
    let answer = panic::catch_unwind(AssertUnwindSafe(|| job.run(cache, time)));
    minder.abort();
    let mut inside = room.lock();
    inside.running = None;
    if stop.load(Ordering::Relaxed) {
        // The next request puts the session into the queue again; one that came meanwhile could not.
        let asked = inside.presence.idle(Instant::now()) < bounds.absence;
        drop(inside);
        if asked {
            rooms.schedule(room);
        }
        return;
    }
    let defaults = &rooms.options.defaults;
    let answer = match answer {
        Ok(answer) => answer.map_err(|problem| {
            SessionError::new(defaults.store.without_folders(&problem.to_string(), &defaults.seats))
        }),
        Err(_) => {
            // A bug in an agent affects this session alone.
            *cache = AgentCache::default();
            Err(SessionError::new("the agent failed; choose another one"))
        }
    };
    inside.session.finish(&job, answer);
    drop(inside);
    room.changed();
    rooms.schedule(room);
}

/// The next job of a session, if somebody listens to it.
fn take(room: &Room, absence: Duration) -> Option<(Arc<Job>, Arc<AtomicBool>)> {
    let mut inside = room.lock();
    inside.queued = false;
    if inside.presence.idle(Instant::now()) >= absence {
        return None;
    }
    let job = Arc::new(inside.session.job()?);
    let stop = Arc::new(AtomicBool::new(false));
    inside.running = Some(Running { job: Arc::clone(&job), stop: Arc::clone(&stop) });
    Some((job, stop))
}

/// Ends the search of a session when nobody listens to it any more.
async fn mind(room: Arc<Room>, absence: Duration) {
    loop {
        tokio::time::sleep(absence / 8).await;
        if room.idle() >= absence {
            return room.give_up();
        }
    }
}
