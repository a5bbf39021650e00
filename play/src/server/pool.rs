//! The threads that search. A session gets one thread for one search and then moves to the end of the
//! queue, so no session waits for all searches of another. The more sessions wait, the shorter each
//! search.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;

use super::room::{Room, Rooms};
use crate::agents::{Seat, Shelf};
use crate::session::Job;

/// The time between two moves when only agents play, so that people can follow.
const PACE: Duration = Duration::from_millis(700);

/// Starts the threads; they end when the rooms close.
pub(super) fn start(rooms: &Arc<Rooms>) {
    for _ in 0..rooms.options.bounds.thinkers.max(1) {
        let rooms = Arc::clone(rooms);
        let runtime = Handle::current();
        thread::spawn(move || work(&rooms, &runtime));
    }
}

fn work(rooms: &Arc<Rooms>, runtime: &Handle) {
    let mut shelf = Shelf::new();
    while let Some((room, waiting)) = rooms.next() {
        let sharers = 1 + waiting / rooms.options.bounds.thinkers.max(1);
        let Some((job, stop)) = take(&room) else {
            continue;
        };
        let answer = panic::catch_unwind(AssertUnwindSafe(|| {
            job.run(&mut shelf, &stop, sharers as u32)
        }));
        let mut inside = room.lock();
        inside.running = None;
        match answer {
            Ok(Ok(thought)) => {
                inside.session.finish(&job, thought);
            }
            Ok(Err(problem)) => inside.trouble = Some(problem),
            Err(_) => {
                // A bug in an agent affects this session alone.
                shelf = Shelf::new();
                inside.trouble = Some("the agent failed; choose another one".to_owned());
            }
        }
        let only_agents = !inside.session.seats().contains(&Seat::Human);
        let pause = only_agents && inside.session.agent_to_move();
        drop(inside);
        room.changed();
        if pause {
            let rooms = Arc::clone(rooms);
            runtime.spawn(async move {
                tokio::time::sleep(PACE).await;
                rooms.schedule(&room);
            });
        } else {
            rooms.schedule(&room);
        }
    }
}

/// What the session wants to think about now.
fn take(room: &Room) -> Option<(Arc<Job>, Arc<AtomicBool>)> {
    let mut inside = room.lock();
    inside.queued = false;
    let running = (
        Arc::new(inside.session.job()?),
        Arc::new(AtomicBool::new(false)),
    );
    inside.running = Some((Arc::clone(&running.0), Arc::clone(&running.1)));
    Some(running)
}
