//! Looks at the server beside the thread that plays.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::Worker;
use crate::networks::{newest, read_object};
use crate::places::{RUNS, network_of};
use crate::settings::RunSettings;
use crate::{FleetError, lock};
use jarmo_core::net::AgentFile;

const PATIENCE: Duration = Duration::from_millis(100); // for a message
const LOOK_EVERY: Duration = Duration::from_secs(30); // because a message can get lost
const AGAIN: Duration = Duration::from_secs(1); // after a look that failed

/// Looks for newer networks, another run, other settings and orders, and hands what it finds to the playing thread.
pub(super) struct Lookout<'a> {
    worker: Worker<'a>,
    run: &'a RunSettings,
    network: Mutex<Option<AgentFile>>, // newer than the last one
    over: OnceLock<Instant>,           // since then there is nothing more to play
}

impl<'a> Lookout<'a> {
    pub(super) fn new(worker: Worker<'a>, run: &'a RunSettings) -> Lookout<'a> {
        Lookout { worker, run, network: Mutex::default(), over: OnceLock::new() }
    }

    pub(super) fn take_network(&self) -> Option<AgentFile> {
        lock(&self.network).take()
    }

    /// There is another run, its settings changed, or the worker is to stop.
    pub(super) fn end(&self) {
        self.over.get_or_init(Instant::now);
    }

    pub(super) fn is_over(&self) -> bool {
        if self.worker.is_to_stop() {
            self.end();
        }
        self.over.get().is_some()
    }

    /// How long ago that was.
    pub(super) fn since_over(&self) -> Duration {
        self.over.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Works until the session is over. What the learner writes into the bucket is heard by a plain subscription, which
    /// needs no consumer.
    pub(super) fn run(&self) {
        let link = self.worker.link;
        let network = format!("$KV.{RUNS}.{}", network_of(&self.run.run));
        let Ok(mut heard) = link.wait(link.client.subscribe(format!("$KV.{RUNS}.>"))) else {
            return self.end(); // the key is refused
        };
        let (mut look, mut known) = (Instant::now(), None);
        while !self.is_over() {
            if link.check_admission().is_err() {
                return self.end();
            }
            if !link.is_connected() {
                look = Instant::now() + AGAIN; // what is said meanwhile is not heard
            }
            if Instant::now() >= look {
                let looked = self.look(&mut known);
                look = Instant::now() + if looked.is_ok() { LOOK_EVERY } else { AGAIN };
                if let Err(error) = looked {
                    self.worker.reporter.warn(format!("the newest network: {error}"));
                }
            }
            if let Some(message) = link.next(&mut heard, PATIENCE)
                && (*message.subject == *network || !message.subject.ends_with(".network"))
            {
                look = Instant::now();
            }
        }
    }

    /// Looks at all that messages tell. Reads the newest network, unless it is the one that is known by its steps.
    fn look(&self, known: &mut Option<u64>) -> Result<(), FleetError> {
        if !self.worker.is_for(self.run) {
            self.end();
            return Ok(());
        }
        let link = self.worker.link;
        let runs = link.wait(link.context.get_key_value(RUNS))?;
        if let Some(newest) = newest(link, &runs, &self.run.run)?
            && *known != Some(newest.step)
        {
            let agent = AgentFile::from_bytes(&read_object(link, &newest.parcel)?).map_err(FleetError::new)?;
            *lock(&self.network) = Some(agent);
            *known = Some(newest.step);
        }
        Ok(())
    }
}
