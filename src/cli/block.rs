//! A block of lines on a terminal that is drawn over again and again.

use std::io;

use console::{Term, truncate_str};

/// The block, on a terminal that collects what is written until it is flushed.
pub(super) struct Block {
    terminal: Term,
    drawn: usize, // lines that are there
}

impl Block {
    /// A block that begins where the terminal is; nothing if it is no terminal.
    pub(super) fn on(terminal: Term) -> Option<Block> {
        terminal.is_term().then_some(Block { terminal, drawn: 0 })
    }

    /// The columns that a line may take: one as wide as the terminal would scroll.
    pub(super) fn width(&self) -> usize {
        usize::from(self.terminal.size().1).saturating_sub(1)
    }

    /// Draws these lines in place of the last ones, after some that stay above. What does not fit is cut
    /// off, and `tail` stands at the end of a line that was cut.
    pub(super) fn draw<'a>(
        &mut self,
        above: impl IntoIterator<Item = String>,
        lines: impl IntoIterator<Item = &'a str>,
        tail: &str,
    ) -> io::Result<()> {
        let rows = usize::from(self.terminal.size().0);
        let width = self.width();
        self.terminal.clear_line()?; // there may be the echo of Ctrl-C
        self.terminal.clear_last_lines(self.drawn)?;
        self.drawn = 0;
        for line in above {
            self.terminal.write_line(&line)?;
        }
        // More lines than the terminal has would scroll.
        for line in lines.into_iter().take(rows.saturating_sub(1)) {
            self.terminal.write_line(&truncate_str(line, width, tail))?;
            self.drawn += 1;
        }
        self.terminal.flush()
    }
}
