//! Training and matches over many machines, on NATS with JetStream.
//!
//! A learner (`train --fleet`) publishes its settings and its newest network. Workers play with them and send files of
//! games. A file can arrive more than once, but it enters the replay buffer exactly once: its name is the hash of its
//! content, and the names in the buffer are part of the checkpoint. docs/fleet.md and docs/lab/fleet.md describe the
//! guarantees and the streams.
//!
//! This crate has no server and no training loop of its own. The loop is in [`jarmo_learn::run`], and
//! [`jarmo_selfplay::selfplay::EpisodeReader`] plays the games again.

mod link;
mod game_file;
mod places;
mod settings;
mod status;
mod server;
mod supply;
mod matches;
mod worker;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;

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
pub use supply::{NatsSupply, run_id};
pub use worker::{WorkerEvent, WorkerSettings, work};

/// The time between two checks for work.
const TICK: Duration = Duration::from_millis(20);

/// A message with the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// Trying again fails, too.
    #[error("{0}")]
    Permanent(String),
    /// Trying again may succeed, for example when the server is reachable.
    #[error("{0}")]
    Transient(String),
    /// A limit of the server is reached, such as that of the queue.
    #[error("{0}")]
    Full(String),
    /// No program subscribes to the subject of the message.
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

/// A number that is different in every process and at every call, for names and seeds.
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

/// Waits this long, or until `stop` is set. Returns whether `stop` is still unset.
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
