//! Training and matches over many machines, on NATS with JetStream.
//!
//! A learner (`train --fleet`) publishes its settings and its newest network. Workers play with them and send files of
//! games. On the wire a file arrives at least once; in the replay window it is exactly once, because its name is the
//! hash of its content and the names in the window are part of the checkpoint. docs/fleet.md describes the streams and
//! the promises.
//!
//! This module has no server of its own and no rule of training: the loop is in [`jarmo_learn::run`], and the games are played
//! again by [`jarmo_selfplay::selfplay::EpisodeReader`].

mod error;
mod link;
mod game_file;
mod places;
mod settings;
mod networks;
mod progress;
mod server;
mod status;
mod supply;
mod matches;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use jarmo_core::random::mix;
use serde::Serialize;

pub use error::FleetError;
pub use game_file::{GameFile, GameFileHeader, MOST_BYTES};
pub use link::{Address, Link};
pub use matches::{MatchSettings, play_matches};
pub use progress::{Doing, Orders, WorkerStatus};
pub use server::{Role, Server, ServerSettings, User};
pub use status::{RunStatus, Status, status};
pub use supply::{NatsSupply, SupplySettings};
pub use worker::{SentFile, WorkerEvent, WorkerSettings, work};

/// The time between two looks at what there is to do.
const TICK: Duration = Duration::from_millis(20);

/// A number that no other process and no other moment has, for names and seeds.
fn unique() -> u64 {
    let nanos = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
    mix(nanos as u64 ^ mix(u64::from(std::process::id())))
}

/// Waits this long, or until `stop` is set. Returns whether it is not.
fn pause(stop: &AtomicBool, time: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time && !stop.load(Ordering::Relaxed) {
        thread::sleep(TICK);
    }
    !stop.load(Ordering::Relaxed)
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().expect("no thread panics")
}

fn json(content: &impl Serialize) -> String {
    serde_json::to_string(content).expect("what is said is plain data")
}
