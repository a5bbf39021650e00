//! A block of lines on a terminal that is redrawn in place, and the progress of a command in one.

use std::io::{self, Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use console::{Term, truncate_str};

use jarmo_host::text::span;

pub(super) struct LiveBlock {
    terminal: Term,
    drawn: usize, // lines on the screen
}

impl LiveBlock {
    /// A block at the cursor, or `None` if the output is no terminal, or one that cannot draw.
    pub(super) fn on(terminal: Term) -> Option<LiveBlock> {
        (terminal.is_term() && !console::is_dumb()).then_some(LiveBlock { terminal, drawn: 0 })
    }

    /// The maximum width of a line. One as wide as the terminal would scroll.
    pub(super) fn width(&self) -> usize {
        usize::from(self.terminal.size().1).saturating_sub(1)
    }

    /// The maximum number of lines. As many as the terminal has rows would scroll.
    pub(super) fn rows(&self) -> usize {
        usize::from(self.terminal.size().0).saturating_sub(1)
    }

    /// Draws `lines` in place of the last ones, after the lines `above`, which stay. Long lines are
    /// shortened and end with `tail`.
    pub(super) fn draw<'a>(
        &mut self,
        above: impl IntoIterator<Item = String>,
        lines: impl IntoIterator<Item = &'a str>,
        tail: &str,
    ) -> io::Result<()> {
        let (width, rows) = (self.width(), self.rows());
        self.terminal.clear_line()?; // the echo of Ctrl-C, if any
        self.terminal.clear_last_lines(self.drawn)?;
        self.drawn = 0;
        for line in above {
            self.terminal.write_line(&line)?;
        }
        for line in lines.into_iter().take(rows) {
            self.terminal.write_line(&truncate_str(line, width, tail))?;
            self.drawn += 1;
        }
        self.terminal.flush()
    }
}

/// The progress of a command on standard error: a line that is redrawn on a terminal, a line every ten seconds elsewhere.
/// Threads may share it.
pub(super) struct Progress(Mutex<Shown>);

struct Shown {
    block: Option<LiveBlock>,
    begun: Instant,
    next: Duration, // since then
}

impl Progress {
    /// Shows nothing in the first second.
    pub(super) fn new() -> Progress {
        let block = LiveBlock::on(Term::buffered_stderr());
        Progress(Mutex::new(Shown { block, begun: Instant::now(), next: Duration::from_secs(1) }))
    }

    /// This share of the work is done, from 0 to 1; `what` says the same in words.
    pub(super) fn show(&self, share: f64, what: impl FnOnce() -> String) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = shown.begun.elapsed();
        if passed < shown.next {
            return;
        }
        let every = if shown.block.is_some() { 200 } else { 10_000 };
        shown.next = passed + Duration::from_millis(every);
        let line = format!("{}: {:.0}%{}", what(), 100.0 * share, time_left(passed, share));
        // A closed standard error is no reason to stop.
        let _ = match &mut shown.block {
            Some(block) => block.draw([], [line.as_str()], "…"),
            None => writeln!(stderr(), "{line}"),
        };
    }

    /// Removes the line from a terminal, before the result is printed.
    pub(super) fn clear(&self) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = &mut shown.block {
            let _ = block.draw([], [], "");
        }
    }
}

/// How long the rest takes at the same speed, such as `, 12 s left`.
pub(super) fn time_left(passed: Duration, share: f64) -> String {
    match passed.as_secs_f64() * (1.0 - share) / share {
        left @ ..1e9 => format!(", {} left", span(left)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::style;

    #[test]
    fn the_style_of_a_line_takes_no_room() {
        let line = format!("{} {}", style("games").cyan().force_styling(true), style("x".repeat(73)).bold());
        assert_eq!(truncate_str(&line, 79, "…"), line);
        assert!(truncate_str(&line, 78, "…").contains('…'));
    }

    #[test]
    fn the_time_left_has_a_fitting_unit() {
        let left = |seconds, share| time_left(Duration::from_secs(seconds), share);
        assert_eq!(left(10, 0.5), ", 10 s left");
        assert_eq!(left(60, 0.1), ", 9 min left");
        assert_eq!(left(3600, 0.1), ", 9.0 h left");
        assert_eq!(left(3600, 0.0), "");
    }
}
