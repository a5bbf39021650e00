//! Prints a run: a live block on a terminal, one line per event elsewhere.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::{StyledObject, Term, style};

use crate::cli::block::LiveBlock;
use jarmo_learn::observe::{Event, RunView};

/// The minimum time between two drawings of the block.
const FRAME: Duration = Duration::from_millis(200);

/// The minimum time between two lines of progress.
const LINE_EVERY: Duration = Duration::from_secs(2);

pub(super) struct Printer<'a> {
    view: RunView,
    stop: &'a AtomicBool,
    resume: String,           // the command that continues the run
    block: Option<LiveBlock>, // `None` where lines are printed
    shown: Option<Instant>,
    has_ended: bool,
    warnings: Vec<String>,                     // not printed yet
    fleet: Option<(usize, usize, bool, bool)>, // what the last line about the fleet said
}

impl<'a> Printer<'a> {
    pub(super) fn new(view: RunView, stop: &'a AtomicBool, resume: String) -> Printer<'a> {
        Printer {
            view,
            stop,
            resume,
            block: LiveBlock::on(Term::buffered_stdout()),
            shown: None,
            has_ended: false,
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
                let (resume, limits) = (&self.resume, self.view.limits_text());
                say(&format!("{what}; {device}; {limits}; in {folder}\nCtrl-C stops the run, {resume} continues it"))
            }
        }
    }

    /// Prints an event. If stdout is closed, the run continues.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let just_shown = |time| self.shown.is_some_and(|shown| shown.elapsed() < time);
        self.view.note(event);
        let _ = if self.block.is_some() {
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
                let now = Some((report.playing, report.idle, report.is_behind(), report.connected));
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

    /// Draws the block as it stays on the screen.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
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
        let stops = self.stop.load(Ordering::Relaxed);
        lines.extend(hint(self.has_ended, stops, self.view.matches_text()).map(|hint| hint.to_string()));
        let warnings = self.warnings.drain(..);
        block.draw(warnings, lines.iter().map(String::as_str), "…")
    }
}

/// What a person can do now, in the last row; nothing once the run has ended.
fn hint(has_ended: bool, stops: bool, matches: Option<String>) -> Option<StyledObject<String>> {
    match matches {
        _ if has_ended => None,
        _ if stops => Some(style("stopping after this cycle; Ctrl-C again exits at once".to_owned()).yellow()),
        Some(matches) => Some(style(format!("playing the {matches}; Ctrl-C stops")).yellow()),
        None => Some(style("Ctrl-C saves and stops".to_owned()).dim()),
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn a_run_that_has_ended_says_nothing_about_ctrl_c() {
        let text = |has_ended, stops| hint(has_ended, stops, None).map(|hint| hint.force_styling(false).to_string());
        assert_eq!(text(false, false).unwrap(), "Ctrl-C saves and stops");
        assert!(text(false, true).unwrap().starts_with("stopping after this cycle"));
        assert_eq!(text(true, false), None);
        assert_eq!(text(true, true), None);
    }
}
