//! Playing on the full screen of a terminal.

mod app;
mod board;
mod draw;
mod menu;

use std::io::{self, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

pub use app::App;
pub(crate) use board::{Grid, Picture, draw};
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event, KeyEventKind};
use ratatui::crossterm::execute;

use crate::agents::AgentCache;
use crate::machine;
use crate::session::{Job, Share};
use crate::thought::Thought;

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
    let mut thinker = Thinker::start();
    let mut stale = true;
    while !app.is_over() {
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

/// One search thread, so that the screen never waits.
struct Thinker {
    jobs: Sender<(Arc<Job>, Arc<AtomicBool>)>,
    thoughts: Receiver<Result<Thought, String>>,
    running: Option<(Arc<Job>, Arc<AtomicBool>)>,
    not_before: Instant,
}

impl Thinker {
    fn start() -> Thinker {
        let (jobs, asked) = channel::<(Arc<Job>, Arc<AtomicBool>)>();
        let (answer, thoughts) = channel();
        thread::spawn(move || {
            let mut cache = AgentCache::new();
            for (job, stop) in asked {
                if answer.send(job.run(&mut cache, machine::clock, &stop, Share::ALONE)).is_err() {
                    return; // the game is over
                }
            }
        });
        Thinker { jobs, thoughts, running: None, not_before: Instant::now() }
    }

    /// Takes a finished answer and starts the next job. Returns whether the board changed.
    fn serve(&mut self, app: &mut App) -> bool {
        let mut changed = false;
        if let Some((job, stop)) = &self.running {
            if !app.session().wants(job) {
                stop.store(true, Ordering::Relaxed);
            }
            if let Ok(thought) = self.thoughts.try_recv() {
                app.finish(job, thought);
                if job.is_move() && app.session().only_agents() {
                    self.not_before = Instant::now() + PACE;
                }
                self.running = None;
                changed = true;
            }
        }
        if self.running.is_none()
            && Instant::now() >= self.not_before
            && let Some(job) = app.job()
        {
            let running = (Arc::new(job), Arc::new(AtomicBool::new(false)));
            if self.jobs.send(running.clone()).is_ok() {
                self.running = Some(running);
            }
        }
        changed
    }
}

impl Drop for Thinker {
    fn drop(&mut self) {
        if let Some((_, stop)) = &self.running {
            stop.store(true, Ordering::Relaxed);
        }
    }
}
