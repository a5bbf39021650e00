//! A block of lines on a terminal that is redrawn in place.

use std::io;

use console::{Term, truncate_str};

pub(super) struct LiveBlock {
    terminal: Term,
    drawn: usize, // lines on the screen
}

impl LiveBlock {
    /// A block at the cursor, or `None` if the output is no terminal.
    pub(super) fn on(terminal: Term) -> Option<LiveBlock> {
        terminal.is_term().then_some(LiveBlock { terminal, drawn: 0 })
    }

    /// The maximum width of a line. One as wide as the terminal would scroll.
    pub(super) fn width(&self) -> usize {
        usize::from(self.terminal.size().1).saturating_sub(1)
    }

    /// The maximum number of lines. As many as the terminal has rows would scroll.
    pub(super) fn rows(&self) -> usize {
        usize::from(self.terminal.size().0).saturating_sub(1)
    }

    /// Draws `lines` in place of the last ones, after the lines `above`, which stay. Long lines are cut
    /// off and end with `tail`.
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
