//! Training and matches over many machines, on NATS with JetStream.
//!
//! A learner (`train --fleet`) publishes its settings and its newest network. Workers play with them and send files of
//! games. On the wire a file arrives at least once; in the replay window it is exactly once, because its name is the
//! hash of its content and the names in the window are part of the checkpoint. docs/fleet.md describes the streams and
//! the promises.
//!
//! This module has no server of its own and no rule of training: the loop is in [`jarmo_learn::run`], and the games are played
//! again by [`jarmo_selfplay::selfplay::EpisodeReader`].

mod link;
mod game_file;
mod places;
mod settings;
mod status;
mod server;
mod supply;
mod matches;
mod worker;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

pub use game_file::{GameFile, MOST_BYTES};
pub use link::{Address, Link};
pub use matches::{MatchSettings, play_matches};
pub use server::{Role, Server, ServerSettings, User};
pub use status::{Doing, Orders, RunStatus, Status, WorkerStatus, status};
pub use supply::NatsSupply;
pub use worker::{WorkerEvent, WorkerSettings, work};

/// The time between two looks at what there is to do.
const TICK: Duration = Duration::from_millis(20);

/// A problem in words, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// The same fails again.
    #[error("{0}")]
    Permanent(String),
    /// The same may succeed later, for example when the server is there.
    #[error("{0}")]
    Transient(String),
    /// A limit of the server is reached, for example that of the queue.
    #[error("{0}")]
    Full(String),
    /// Nothing at the server takes what was sent.
    #[error("{0}")]
    Missing(String),
}

impl FleetError {
    fn new(problem: impl fmt::Display) -> FleetError {
        FleetError::Permanent(problem.to_string())
    }

    /// Turns an error with a file into a problem.
    fn at(path: &Path) -> impl FnOnce(io::Error) -> FleetError {
        move |error| FleetError::new(format!("{}: {error}", path.display()))
    }
}

/// A number that no other process and no other moment has, for names and seeds.
fn unique() -> u64 {
    RandomState::new().hash_one(())
}

/// The name of this machine.
fn host_name() -> String {
    #[cfg(unix)]
    {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        std::env::var("COMPUTERNAME").unwrap_or_else(|_| "worker".to_owned())
    }
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
