//! Lines of input: of bounded length, and read ahead, so that a search hears a line that asks it to stop.
//!
//! Knows no commands; the caller says which lines are urgent.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The maximum length of a line that a person or a program types.
pub const MAX_LINE_BYTES: u64 = 1 << 20;

/// Bytes of lines that are read ahead; reading pauses above this.
const MAX_AHEAD_BYTES: usize = 4 << 20;

/// Memory of a waiting line besides its text.
const LINE_COST: usize = 64;

/// Reads the next line into `line` and returns whether it is complete; `None` at the end. Of a line longer
/// than `most` bytes only the beginning is read, and the rest is skipped.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, most: u64) -> io::Result<Option<bool>> {
    line.clear();
    if input.take(most).read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    let whole = line.ends_with(b"\n") || (line.len() as u64) < most;
    if !whole {
        input.skip_until(b'\n')?;
    }
    Ok(Some(whole))
}

/// What a line longer than `most` bytes is told.
pub fn too_long(most: u64) -> String {
    format!("longer than {} MiB", most >> 20)
}

/// A line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Its text; bytes that are not UTF-8 are replaced.
    Text(String),
    /// It is longer than [`MAX_LINE_BYTES`] and was skipped.
    TooLong,
}

/// How a line affects what was asked for before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It waits for its turn.
    Usual,
    /// Searches before it end at once.
    Urgent,
    /// The same, and nothing is read after it.
    Last,
}

/// Lines in their order, read ahead by a thread of its own.
///
/// As long as an urgent line waits, or is the one taken last, the flags [`Ahead::stop`] and
/// [`Ahead::stop_or_end`] are set. Dropping this ends the thread after its current line.
#[derive(Debug)]
pub struct Ahead {
    shared: Arc<Shared>,
    holds_urgent: bool, // the line taken last
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    stop: Arc<AtomicBool>,
    stop_or_end: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<(Line, Urgency)>,
    bytes: usize,
    urgent: usize,
    end: Option<Option<io::Error>>,
    abandoned: bool,
}

impl Ahead {
    /// Starts to read.
    pub fn read(input: impl BufRead + Send + 'static, urgency: fn(&str) -> Urgency) -> io::Result<Ahead> {
        let shared = Arc::new(Shared::default());
        let reader = Arc::clone(&shared);
        thread::Builder::new().name("input".to_owned()).spawn(move || reader.fill(input, urgency))?;
        Ok(Ahead { shared, holds_urgent: false })
    }

    /// Waits for the next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut queue = self.shared.lock();
        if self.holds_urgent {
            self.holds_urgent = false;
            queue.urgent -= 1;
            self.shared.set_flags(&queue);
        }
        loop {
            if let Some((line, urgency)) = queue.lines.pop_front() {
                queue.bytes -= cost(&line);
                self.holds_urgent = urgency != Urgency::Usual;
                self.shared.changed.notify_all();
                return Ok(Some(line));
            }
            match &mut queue.end {
                Some(error) => return error.take().map_or(Ok(None), Err),
                None => queue = self.shared.wait(queue),
            }
        }
    }

    /// A flag that is set while an urgent line waits.
    pub fn stop(&self) -> &Arc<AtomicBool> {
        &self.shared.stop
    }

    /// A flag that is set while an urgent line waits, and after the end of the input.
    pub fn stop_or_end(&self) -> &Arc<AtomicBool> {
        &self.shared.stop_or_end
    }

    /// Sets both flags for good and reads no further.
    pub fn abandon(&self) {
        let mut queue = self.shared.lock();
        queue.abandoned = true;
        self.shared.set_flags(&queue);
        self.shared.changed.notify_all();
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.abandon();
    }
}

impl Shared {
    fn fill(&self, mut input: impl BufRead, urgency: fn(&str) -> Urgency) {
        let mut bytes = Vec::new();
        loop {
            let line = match read_line(&mut input, &mut bytes, MAX_LINE_BYTES) {
                Ok(Some(true)) => Line::Text(String::from_utf8_lossy(&bytes).trim().to_owned()),
                Ok(Some(false)) => Line::TooLong,
                Ok(None) => return self.end(None),
                Err(error) => return self.end(Some(error)),
            };
            let urgency = match &line {
                Line::Text(text) => urgency(text),
                Line::TooLong => Urgency::Usual,
            };
            if !self.push(line, urgency) {
                return;
            }
            if urgency == Urgency::Last {
                return self.end(None);
            }
        }
    }

    /// Appends a line once there is room for it. False if no one takes lines any more.
    fn push(&self, line: Line, urgency: Urgency) -> bool {
        let mut queue = self.lock();
        queue.urgent += usize::from(urgency != Urgency::Usual);
        self.set_flags(&queue);
        while queue.bytes > MAX_AHEAD_BYTES && !queue.abandoned {
            queue = self.wait(queue);
        }
        queue.bytes += cost(&line);
        queue.lines.push_back((line, urgency));
        self.changed.notify_all();
        !queue.abandoned
    }

    fn end(&self, error: Option<io::Error>) {
        let mut queue = self.lock();
        queue.end = Some(error);
        self.set_flags(&queue);
        self.changed.notify_all();
    }

    fn set_flags(&self, queue: &Queue) {
        let stop = queue.abandoned || queue.urgent > 0;
        self.stop.store(stop, Ordering::Relaxed);
        let either = stop || queue.end.is_some();
        self.stop_or_end.store(either, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(line: &Line) -> usize {
    match line {
        Line::Text(text) => LINE_COST + text.len(),
        Line::TooLong => LINE_COST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn urgency(line: &str) -> Urgency {
        match line {
            "stop" => Urgency::Urgent,
            "quit" => Urgency::Last,
            _ => Urgency::Usual,
        }
    }

    fn flags(lines: &Ahead) -> [bool; 2] {
        [lines.stop(), lines.stop_or_end()].map(|flag| flag.load(Ordering::Relaxed))
    }

    #[test]
    fn lines_come_in_order_and_urgent_ones_are_heard_before_their_turn() {
        let long = "x".repeat(MAX_LINE_BYTES as usize);
        let input = Cursor::new(format!("one\n{long}\nstop\nthree\nquit\nfour\n"));
        let mut lines = Ahead::read(input, urgency).unwrap();
        let mut next = || lines.next_line().unwrap();
        let text = |text: &str| Some(Line::Text(text.to_owned()));
        assert_eq!(next(), text("one"));
        assert_eq!(next(), Some(Line::TooLong));
        assert_eq!(next(), text("stop"));
        assert_eq!(flags(&lines), [true, true]);
        let mut next = || lines.next_line().unwrap();
        assert_eq!(next(), text("three"));
        assert_eq!(next(), text("quit"));
        assert_eq!(next(), None, "nothing is read after it");
        assert_eq!(flags(&lines), [false, true]);
    }

    #[test]
    fn reading_ahead_pauses_before_memory_runs_out() {
        let line = "y".repeat(1 << 19);
        let input = Cursor::new(format!("{line}\n").repeat(40));
        let mut lines = Ahead::read(input, urgency).unwrap();
        let mut count = 0;
        while lines.next_line().unwrap().is_some() {
            count += 1;
            assert!(lines.shared.lock().bytes <= MAX_AHEAD_BYTES + 2 * (1 << 19));
        }
        assert_eq!(count, 40);
    }
}
