//! Looks at the server beside the thread that plays.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Found, find_run};
use crate::networks::{Newest, newest, read_network};
use crate::places::{RUNS, network_of};
use crate::reporter::Reporter;
use crate::settings::RunSettings;
use crate::{FleetError, Link, Orders};
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
    pub(super) network: Mutex<Option<AgentFile>>, // newer than the last one
    pub(super) is_over: AtomicBool, // there is another run, its settings changed, or the session ended
}

impl News {
    pub(super) fn take(&self) -> Option<AgentFile> {
        self.network.lock().expect("no thread panics").take()
    }
}

/// Looks at the server beside the playing thread: for newer networks, another run, other settings and orders.
pub(super) struct Lookout<'a> {
    pub(super) link: &'a Link,
    pub(super) wanted: Option<&'a str>,
    pub(super) settings: &'a RunSettings,
    pub(super) reporter: &'a Reporter,
    pub(super) news: &'a News,
    pub(super) known: Option<u64>, // learning steps of the newest network here
}

impl Lookout<'_> {
    /// Works until the session is over. What the learner writes into the bucket is heard by a plain subscription, which
    /// needs no consumer.
    pub(super) fn run(mut self) {
        let subject = format!("$KV.{RUNS}.>");
        let network = format!("$KV.{RUNS}.{}", network_of(&self.settings.run));
        let mut heard = None;
        let mut look = Instant::now();
        while !self.news.is_over.load(Ordering::Relaxed) {
            if heard.is_none() {
                let client = self.link.client();
                heard = self.link.wait(client.subscribe(subject.clone())).ok();
            }
            if self.link.check_admission().is_err() {
                self.news.is_over.store(true, Ordering::Relaxed);
                return;
            }
            if !self.link.is_connected() {
                look = Instant::now() + AGAIN; // what is said meanwhile is not heard
            }
            if Instant::now() >= look {
                look = Instant::now() + if self.look() { LOOK_EVERY } else { AGAIN };
            }
            let Some(heard) = &mut heard else {
                thread::sleep(PATIENCE);
                continue;
            };
            let mut newest = None;
            let mut patience = PATIENCE;
            while let Some(message) = self.link.next(heard, patience) {
                patience = Duration::ZERO;
                if *message.subject == *network {
                    newest = serde_json::from_slice(&message.payload).ok();
                } else if !message.subject.ends_with(".network") {
                    look = Instant::now();
                }
            }
            if let Some(newest) = newest
                && !self.fetch(&newest)
            {
                look = Instant::now() + AGAIN;
            }
        }
    }

    /// Looks at all that news tell. Returns whether that worked.
    fn look(&mut self) -> bool {
        if !is_same(self.link, self.wanted, self.settings) {
            self.news.is_over.store(true, Ordering::Relaxed);
            return true;
        }
        let runs = self.link.wait(self.link.context().get_key_value(RUNS));
        match runs.and_then(|runs| newest(self.link, &runs, &self.settings.run)) {
            Ok(Some(newest)) => self.fetch(&newest),
            Ok(None) => true,
            Err(error) => self.failed(&error),
        }
    }

    /// Reads a network, unless it is the one that is here. Returns whether that worked.
    fn fetch(&mut self, newest: &Newest) -> bool {
        if self.known == Some(newest.step) {
            return true;
        }
        match read_network(self.link, newest) {
            Ok(agent) => {
                self.known = Some(newest.step);
                *self.news.network.lock().expect("no thread panics") = Some(agent);
                true
            }
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&self, error: &FleetError) -> bool {
        self.reporter.warn(format!("the newest network: {error}"));
        false
    }
}

/// Whether the run to play for still has these settings, as far as the server can be asked. A server that has lost them
/// gets them again from the learner.
fn is_same(link: &Link, wanted: Option<&str>, settings: &RunSettings) -> bool {
    match find_run(link, wanted) {
        Ok(found) if found.orders != Orders::Play => false,
        Ok(Found { run: Some(now), .. }) => RunSettings::read(&now).as_ref() == Ok(settings),
        Ok(_) | Err(_) => true,
    }
}
