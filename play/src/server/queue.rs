//! The sessions that wait for a search, with one queue per client. Clients take turns, regardless of the number of
//! their sessions.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::room::{Room, lock};

pub(super) struct Queue {
    pub(super) threads: usize,
    waiting: Mutex<Waiting<Arc<Room>>>,
    changed: Condvar,
}

/// The task of a thread.
pub(super) enum Next {
    /// Search for this session, which shares the CPU with this many sessions, itself included.
    Think(Arc<Room>, u32),
    /// No session has come for some time.
    Rest,
    /// The server stops.
    End,
}

struct Waiting<T> {
    lines: VecDeque<(IpAddr, VecDeque<T>)>, // no line is empty
    closed: bool,
}

impl<T> Waiting<T> {
    fn push(&mut self, client: IpAddr, one: T) {
        match self.lines.iter_mut().find(|line| line.0 == client) {
            Some((_, line)) => line.push_back(one),
            None => self.lines.push_back((client, VecDeque::from([one]))),
        }
    }

    /// The first of the client whose turn it is, and with how many it shares `threads`. This client's next turn
    /// comes after all others.
    fn pop(&mut self, threads: usize) -> Option<(T, u32)> {
        let (client, mut line) = self.lines.pop_front()?;
        let one = line.pop_front()?;
        let others = self.lines.len();
        let before = others + line.len() * (1 + others);
        if !line.is_empty() {
            self.lines.push_back((client, line));
        }
        let sharers = u32::try_from(1 + before / threads);
        Some((one, sharers.unwrap_or(u32::MAX)))
    }
}

impl Queue {
    pub(super) fn new(threads: usize) -> Queue {
        Queue {
            threads: threads.max(1),
            waiting: Mutex::new(Waiting { lines: VecDeque::new(), closed: false }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn push(&self, room: Arc<Room>) {
        lock(&self.waiting).push(room.client, room);
        self.changed.notify_one();
    }

    /// Waits for a session that wants to think, up to a limit.
    pub(super) fn next(&self, patience: Duration) -> Next {
        let idle = |waiting: &mut Waiting<_>| waiting.lines.is_empty() && !waiting.closed;
        let waiting = lock(&self.waiting);
        let (mut waiting, _) =
            self.changed.wait_timeout_while(waiting, patience, idle).unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return Next::End;
        }
        match waiting.pop(self.threads) {
            Some((room, sharers)) => Next::Think(room, sharers),
            None => Next::Rest,
        }
    }

    /// Ends the threads.
    pub(super) fn close(&self) {
        lock(&self.waiting).closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_take_turns_and_share_alike() {
        let mut waiting = Waiting { lines: VecDeque::new(), closed: false };
        let [greedy, normal] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        for number in 0..100 {
            waiting.push(greedy, number);
        }
        waiting.push(normal, 1000);
        waiting.push(normal, 1001);
        let mut pop = || waiting.pop(2).unwrap();
        assert_eq!(pop(), (0, 100));
        assert_eq!(pop(), (1000, 2));
        assert_eq!(pop().0, 1);
        assert_eq!(pop(), (1001, 1), "one other waits, for two threads");
        assert_eq!(pop(), (2, 49));
    }
}
