//! Playing on the full screen of a terminal.

mod app;
mod board;
mod draw;
mod menu;

use std::io::{self, stdout};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use app::App;
pub(crate) use board::{Grid, Picture, draw};
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event, KeyEventKind};
use ratatui::crossterm::execute;

use crate::agents::AgentCache;
use crate::error::SessionError;
use crate::machine;
use crate::session::Job;
use crate::thought::{Analysis, Time};

/// How long the screen waits for a key before it checks for answers of agents.
const BEAT: Duration = Duration::from_millis(30);

/// Time between two moves when only agents play.
const PACE: Duration = Duration::from_millis(500);

/// Plays until the player leaves.
pub fn run(app: &mut App) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let mouse = execute!(stdout(), EnableMouseCapture).is_ok();
    let result = play(app, &mut terminal);
    if mouse {
        // Best effort: there is no way left to report a failure.
        let _ = execute!(stdout(), DisableMouseCapture);
    }
    ratatui::restore();
    result
}

fn play(app: &mut App, terminal: &mut ratatui::DefaultTerminal) -> io::Result<()> {
    let mut thinker = Thinker { cache: AgentCache::default(), running: None, not_before: Instant::now() };
    let mut stale = true;
    while !app.over {
        if stale {
            terminal.draw(|frame| app.draw(frame))?;
            stale = false;
        }
        if event::poll(BEAT)? {
            stale = true;
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => app.key(key),
                Event::Mouse(mouse) => app.mouse(mouse),
                _ => {}
            }
        }
        stale |= thinker.serve(app);
    }
    Ok(())
}

/// At most one search on a thread of its own, so that the screen never waits.
struct Thinker {
    cache: AgentCache, // empty while a search has it
    running: Option<Search>,
    not_before: Instant,
}

struct Search {
    job: Arc<Job>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(AgentCache, Result<Analysis, SessionError>)>,
}

impl Thinker {
    /// Takes a finished answer and starts the next job. Returns whether the board changed.
    fn serve(&mut self, app: &mut App) -> bool {
        if let Some(Search { job, stop, .. }) = &self.running
            && !app.session.wants(job)
        {
            stop.store(true, Ordering::Relaxed);
        }
        let finished = self.running.take_if(|search| search.thread.is_finished());
        let changed = finished.is_some();
        if let Some(Search { job, stop, thread }) = finished {
            let (cache, thought) = thread.join().expect("a search ends with an answer");
            self.cache = cache;
            // A stopped search has seen less than its job asks for.
            if !stop.load(Ordering::Relaxed) {
                app.finish(&job, thought);
                if job.is_move() && app.session.only_agents() {
                    self.not_before = Instant::now() + PACE;
                }
            }
        }
        if self.running.is_none()
            && Instant::now() >= self.not_before
            && let Some(job) = app.session.job()
        {
            let (job, stop) = (Arc::new(job), Arc::new(AtomicBool::new(false)));
            let (mut cache, asked, ended) = (mem::take(&mut self.cache), Arc::clone(&job), Arc::clone(&stop));
            let thread = thread::spawn(move || {
                let thought = asked.run(&mut cache, Time::alone(machine::clock, &ended));
                (cache, thought)
            });
            self.running = Some(Search { job, stop, thread });
        }
        changed
    }
}

impl Drop for Thinker {
    fn drop(&mut self) {
        if let Some(search) = &self.running {
            search.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::Language;
    use crate::session::Session;
    use crate::specs::Store;
    use jarmo_exact::catalog::GameSettings;

    #[test]
    fn the_answer_of_a_stopped_search_is_dropped() {
        let (settings, people) = (GameSettings::default(), ["human", "human"]);
        let session = Session::new(Store::default(), "jarmo", settings, None, people, 3).unwrap();
        let mut app = App::new(session, Language::En, 3);
        app.session.evaluating = false;
        app.session.ask_hint();
        let mut thinker = Thinker { cache: AgentCache::default(), running: None, not_before: Instant::now() };
        thinker.serve(&mut app);
        app.session.play("A1-C2").unwrap();
        while thinker.running.is_some() {
            thread::sleep(BEAT);
            thinker.serve(&mut app);
        }
        assert_eq!(app.session.thought(0), None);
    }
}
