//! Admits connections, up to a limit in total and a limit per client. If a limit is reached, a connection is closed
//! whose request is incomplete: the oldest one of the client with the most connections.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::room::{ServerLimits, lock};

pub(super) struct Admissions {
    most: usize,
    per_client: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    connections: HashMap<u64, Connection>, // by number
    events: u64,                           // counts what is numbered
}

struct Connection {
    client: IpAddr,
    since: u64,     // the event after which it has waited for a request
    answered: bool, // its request is whole, and has no answer yet
    closing: Arc<Notify>,
}

/// The entry of an open connection.
pub(super) struct Admission {
    all: Arc<Admissions>,
    number: u64,
    client: IpAddr,
    closing: Arc<Notify>,
}

impl Admissions {
    pub(super) fn new(bounds: &ServerLimits) -> Arc<Admissions> {
        let (most, per_client) = (bounds.connections, bounds.per_address.saturating_mul(2));
        Arc::new(Admissions { most, per_client, open: Mutex::default() })
    }

    /// Admits a connection of this client if there is room. Connections through a proxy are counted by request.
    pub(super) fn admit(self: &Arc<Admissions>, client: IpAddr, by_proxy: bool) -> Option<Admission> {
        let mut open = lock(&self.open);
        let mine = if by_proxy { 0 } else { open.held_by(client) };
        let waiting = open.connections.values().filter(|held| !held.answered).count();
        if mine >= self.per_client {
            open.make_room(|held, _| held.client == client && !held.answered)?;
        } else if open.connections.len() >= self.most || waiting >= self.most - self.most / 4 {
            // A quarter is for those whose requests are answered. If all are, the client with most gives way.
            open.make_room(|held, of_its_client| !held.answered || of_its_client > mine + 1)?;
        }
        let (number, closing) = (open.next(), Arc::default());
        open.connections
            .insert(number, Connection { client, since: number, answered: false, closing: Arc::clone(&closing) });
        Some(Admission { all: Arc::clone(self), number, client, closing })
    }
}

impl Open {
    fn next(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    fn held_by(&self, client: IpAddr) -> usize {
        self.connections.values().filter(|held| held.client == client).count()
    }

    /// Closes one of the connections that may be closed. The decision depends on the number of connections of its
    /// client.
    fn make_room(&mut self, may_close: impl Fn(&Connection, usize) -> bool) -> Option<()> {
        let mut by_client: HashMap<IpAddr, usize> = HashMap::new();
        for held in self.connections.values() {
            *by_client.entry(held.client).or_default() += 1;
        }
        let candidates = self.connections.iter().filter(|(_, held)| may_close(held, by_client[&held.client]));
        let first = candidates.max_by_key(|(_, held)| (!held.answered, by_client[&held.client], Reverse(held.since)));
        let (&number, _) = first?;
        self.connections.remove(&number)?.closing.notify_one();
        Some(())
    }
}

impl Admission {
    /// Waits until the connection must be closed to make room for another one.
    pub(super) async fn closing(&self) {
        self.closing.notified().await;
    }

    /// Records that a request of this client is complete. Returns false if too many requests of the client are being
    /// answered.
    pub(super) fn answer(&self, client: IpAddr) -> bool {
        let mut open = lock(&self.all.open);
        if client != self.client && open.held_by(client) >= self.all.per_client {
            return false;
        }
        if let Some(held) = open.connections.get_mut(&self.number) {
            (held.client, held.answered) = (client, true);
        }
        true
    }

    /// Records that the request has its answer. A client that does not read the answer is treated like one that does
    /// not complete its request.
    pub(super) fn wait(&self) {
        let mut open = lock(&self.all.open);
        let since = open.next();
        if let Some(held) = open.connections.get_mut(&self.number) {
            (held.client, held.answered, held.since) = (self.client, false, since);
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        lock(&self.all.open).connections.remove(&self.number);
    }
}
