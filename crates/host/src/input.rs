//! Lines of input. Their length is limited, and they are read ahead, so that a line can stop a search that is
//! running.
//!
//! This module knows no commands. The caller decides which lines are urgent.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The largest length of a line of input, in bytes.
pub const MAX_LINE_BYTES: u64 = 1 << 20;

/// While more than this many bytes are read ahead, reading pauses.
const MAX_AHEAD_BYTES: usize = 4 << 20;

/// The memory that a waiting line takes in addition to its text, in bytes.
const LINE_COST: usize = 64;

/// Reads the next line into `line`. Returns whether it is complete, or `None` at the end of the input. If the line is
/// longer than `most` bytes, only its beginning is read and the rest is skipped.
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

/// The message for a line that is longer than `most` bytes.
pub fn too_long(most: u64) -> String {
    format!("longer than {} MiB", most >> 20)
}

/// A line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The text of the line. Bytes that are not UTF-8 are replaced.
    Text(String),
    /// The line was longer than [`MAX_LINE_BYTES`] and was skipped.
    TooLong,
}

/// What a line does to the commands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Nothing: it waits until they are done.
    Usual,
    /// It ends their searches at once.
    Urgent,
    /// It ends their searches at once, and no line after it is read.
    Last,
}

/// Lines of input in order, which a separate thread reads ahead.
///
/// The flags [`Ahead::stop`] and [`Ahead::stop_or_end`] are set while an urgent line waits, and also while it is the
/// line that was returned last. When this value is dropped, the thread ends after its current line.
#[derive(Debug)]
pub struct Ahead {
    shared: Arc<Shared>,
    holds_urgent: bool, // whether the line returned last is urgent
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
    /// Starts the thread that reads.
    pub fn read(input: impl BufRead + Send + 'static, urgency: fn(&str) -> Urgency) -> io::Result<Ahead> {
        let shared = Arc::new(Shared::default());
        let reader = Arc::clone(&shared);
        thread::Builder::new().name("input".to_owned()).spawn(move || reader.fill(input, urgency))?;
        Ok(Ahead { shared, holds_urgent: false })
    }

    /// Waits for the next line; returns `None` at the end of the input.
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

    /// A flag that is set while an urgent line waits or is being handled.
    pub fn stop(&self) -> &Arc<AtomicBool> {
        &self.shared.stop
    }

    /// The same flag, but it is also set after the end of the input.
    pub fn stop_or_end(&self) -> &Arc<AtomicBool> {
        &self.shared.stop_or_end
    }

    /// Sets both flags permanently, and stops reading.
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

    /// Appends a line as soon as there is room. Returns false if nobody takes lines any more.
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
