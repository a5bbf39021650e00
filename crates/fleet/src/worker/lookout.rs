//! Looks at the server beside the thread that plays.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::networks::{newest, read_network};
use crate::places::{RUNS, network_of};
use crate::reporter::Worker;
use crate::settings::RunSettings;
use crate::{FleetError, lock};
use jarmo_core::net::AgentFile;

/// The longest wait for news at a time.
const PATIENCE: Duration = Duration::from_millis(100);

/// The time between two looks at what news tell, because a message of news can get lost.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// The pause before the next look after one that failed.
const AGAIN: Duration = Duration::from_secs(1);

/// What the thread that looks at the server hands to the one that plays.
#[derive(Default)]
pub(super) struct News {
    network: Mutex<Option<AgentFile>>, // newer than the last one
    over: OnceLock<Instant>,           // since then there is nothing more to play
}

impl News {
    pub(super) fn take(&self) -> Option<AgentFile> {
        lock(&self.network).take()
    }

    /// There is another run, its settings changed, or the worker is to stop.
    pub(super) fn end(&self) {
        self.over.get_or_init(Instant::now);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// How long ago that was.
    pub(super) fn since_over(&self) -> Duration {
        self.over.get().map_or(Duration::ZERO, Instant::elapsed)
    }
}

/// Looks at the server beside the playing thread: for newer networks, another run, other settings and orders.
pub(super) struct Lookout<'a> {
    pub(super) worker: Worker<'a>,
    pub(super) run: &'a RunSettings,
    pub(super) news: &'a News,
    pub(super) known: Option<u64>, // learning steps of the newest network here
}

impl Lookout<'_> {
    /// Works until the session is over. What the learner writes into the bucket is heard by a plain subscription, which
    /// needs no consumer.
    pub(super) fn run(mut self) {
        let link = self.worker.link;
        let network = format!("$KV.{RUNS}.{}", network_of(&self.run.run));
        let heard = link.client.subscribe(format!("$KV.{RUNS}.>"));
        let Ok(mut heard) = link.wait(heard) else {
            return self.news.end(); // the key is refused
        };
        let mut look = Instant::now();
        while !self.news.is_over() {
            if link.check_admission().is_err() {
                return self.news.end();
            }
            if !link.is_connected() {
                look = Instant::now() + AGAIN; // what is said meanwhile is not heard
            }
            if Instant::now() >= look {
                look = Instant::now() + if self.look() { LOOK_EVERY } else { AGAIN };
            }
            if let Some(message) = link.next(&mut heard, PATIENCE)
                && (*message.subject == *network || !message.subject.ends_with(".network"))
            {
                look = Instant::now();
            }
        }
    }

    /// Looks at all that news tell. Returns whether that worked.
    fn look(&mut self) -> bool {
        if !self.worker.is_for(self.run) {
            self.news.end();
            return true;
        }
        let fetched = self.fetch();
        if let Err(error) = &fetched {
            self.worker.reporter.warn(format!("the newest network: {error}"));
        }
        fetched.is_ok()
    }

    /// Reads the newest network, unless it is the one that is here.
    fn fetch(&mut self) -> Result<(), FleetError> {
        let link = self.worker.link;
        let runs = link.wait(link.context.get_key_value(RUNS))?;
        if let Some(newest) = newest(link, &runs, &self.run.run)?
            && self.known != Some(newest.step)
        {
            *lock(&self.news.network) = Some(read_network(link, &newest)?);
            self.known = Some(newest.step);
        }
        Ok(())
    }
}
