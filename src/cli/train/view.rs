//! Prints a run: a live block on a terminal, one line per event elsewhere.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::{Term, style};

use crate::cli::block::LiveBlock;
use jarmo_host::program;
use jarmo_learn::observe::{Event, RunView};

/// The minimum time between two drawings of the block.
const FRAME: Duration = Duration::from_millis(200);

/// The minimum time between two lines of progress.
const LINE_EVERY: Duration = Duration::from_secs(2);

pub(super) struct Printer<'a> {
    view: RunView,
    stop: &'a AtomicBool,
    block: Option<LiveBlock>, // `None` where lines are printed
    shown: Option<Instant>,
    warnings: Vec<String>,               // not printed yet
    fleet: Option<(usize, usize, bool)>, // what the last line about the fleet said
}

impl<'a> Printer<'a> {
    pub(super) fn new(view: RunView, stop: &'a AtomicBool) -> Printer<'a> {
        Printer {
            view,
            stop,
            block: LiveBlock::on(Term::buffered_stdout()).filter(|_| !console::is_dumb()),
            shown: None,
            warnings: Vec::new(),
            fleet: None,
        }
    }

    /// Prints the first lines, before the first event.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        match self.block {
            Some(_) => self.draw(),
            None => {
                let facts = &self.view.facts;
                let (what, device, folder) = (&facts.what, &facts.device, &facts.folder);
                let (program, limits) = (program::name(), self.view.limits_text());
                say(&format!(
                    "{what}; {device}; {limits}; in {folder}\n\
                     Ctrl-C stops the run, {program} train --resume {folder} continues it"
                ))
            }
        }
    }

    /// Prints an event. If stdout is closed, the run continues.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let just_shown = |time| self.shown.is_some_and(|shown| shown.elapsed() < time);
        let _ = if self.block.is_some() {
            self.view.note(event);
            if let Event::Warning(warning) = event {
                self.warnings.push(format!("warning: {warning}"));
            }
            if matches!(event, Event::Played(..) | Event::Fleet(_)) && just_shown(FRAME) {
                return;
            }
            self.draw()
        } else {
            let is_progress = matches!(event, Event::Played(..) | Event::Metrics(_));
            if is_progress && just_shown(LINE_EVERY) {
                return;
            }
            if let Event::Fleet(report) = event {
                let now = Some((report.playing, report.idle, report.is_behind()));
                if self.fleet == now {
                    return;
                }
                self.fleet = now;
            }
            let Some(line) = self.view.event_line(event) else {
                return;
            };
            if is_progress {
                self.shown = Some(Instant::now());
            }
            say(&line)
        };
    }

    pub(super) fn end(&mut self) {
        let _ = self.draw();
    }

    fn draw(&mut self) -> io::Result<()> {
        let Some(block) = &mut self.block else {
            return Ok(());
        };
        self.shown = Some(Instant::now());
        // Beside the lines stands a column of labels, and below them a hint; the last row stays free.
        let (width, rows) = (block.width(), block.rows());
        let lines = self.view.block_within(width.saturating_sub(11), rows.saturating_sub(1));
        let title = 1 + lines.iter().skip(1).take_while(|line| line.0.is_empty()).count();
        let mut lines: Vec<String> = lines
            .into_iter()
            .zip(0..)
            .map(|((label, text), row)| {
                let text = if row < title { style(text).bold() } else { style(text) };
                format!("{} {text}", style(format!("{label:<10}")).cyan())
            })
            .collect();
        let stopping = self.stop.load(Ordering::Relaxed);
        let hint = match self.view.matches {
            _ if stopping => style("stopping after this turn; Ctrl-C again exits at once".to_owned()).yellow(),
            Some(step) => style(format!("playing the matches of step {step}")).yellow(),
            None => style("Ctrl-C saves and stops".to_owned()).dim(),
        };
        lines.push(hint.to_string());
        let warnings = self.warnings.drain(..);
        block.draw(warnings, lines.iter().map(String::as_str), "…")
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
