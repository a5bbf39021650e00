//! The worker's side: plays with the newest network of a run, sends files of games, and plays matches of arenas.

mod matches;
mod reporter;
mod session;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::places::{CURRENT, ORDERS, read_value, settings_of};
use crate::settings::{RunSettings, read_said, with_board};
use crate::status::REPORT_EVERY;
use crate::{Address, Doing, FleetError, Link, Orders, TICK, WorkerStatus, host_name, pause, unique};
use jarmo_facade::Games;
use jarmo_host::program::cores;
use jarmo_learn::train::OpenDevice;
use matches::Matches;
use reporter::Reporter;
pub use reporter::WorkerEvent;
use session::Session;

const PAUSE: Duration = Duration::from_secs(2); // between two attempts to reach the server or to find a learner
const AGAIN: Duration = Duration::from_millis(500); // before something is sent again

/// The settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The server.
    pub address: Address,
    /// The name of this machine in lists; `None` for its host name. A few digits that tell processes apart are added.
    pub name: Option<String>,
    /// The only run to play for, by its identity; `None` for the run whose learner started last.
    pub run: Option<String>,
    /// Threads of self-play; `None` for one per core.
    pub threads: Option<usize>,
    /// The device on which positions are evaluated.
    pub device: OpenDevice,
    /// Stops after this time.
    pub time: Option<Duration>,
    /// Stops after so many finished games.
    pub most_games: Option<u64>,
}

/// A connected worker: what all its parts need.
#[derive(Clone, Copy)]
struct Worker<'a> {
    id: u64, // which no other process has
    name: &'a str,
    threads: usize,
    settings: &'a WorkerSettings,
    link: &'a Link,
    reporter: &'a Reporter,
    stop: &'a AtomicBool,
}

/// Works until `stop` is set, a limit is reached or all workers are told to stop, and then sends the finished games.
/// Waits while the server cannot be reached or there is no learner. Fails if waiting cannot help: with a wrong key,
/// another version or a broken setting. `tell` gets every event and the progress so far.
pub fn work(
    games: &Games,
    settings: &WorkerSettings,
    stop: &AtomicBool,
    mut tell: impl FnMut(&WorkerEvent, &WorkerStatus),
) -> Result<(), FleetError> {
    let begun = Instant::now();
    let is_late = || settings.time.is_some_and(|time| begun.elapsed() >= time);
    let id = unique();
    let name = name_of(&settings.name.clone().unwrap_or_else(host_name), id);
    let threads = settings.threads.unwrap_or_else(cores);
    let reporter = Reporter::new(&name, threads);
    let link = loop {
        match Link::open(&settings.address, &name) {
            Err(error @ FleetError::Transient(_)) => reporter.cannot_send(&error),
            opened => break opened?,
        }
        reporter.events(&mut tell);
        if !pause(stop, PAUSE) || is_late() {
            return Ok(());
        }
    };
    let is_over = AtomicBool::new(false);
    let worker = Worker { id, threads, settings, name: &name, link: &link, reporter: &reporter, stop: &is_over };
    thread::scope(|scope| {
        let working = scope.spawn(|| worker.work(games));
        let mut report = Instant::now();
        while !working.is_finished() {
            let is_enough = settings.most_games.is_some_and(|most| reporter.progress().games >= most);
            if is_late() || is_enough || stop.load(Ordering::Relaxed) {
                is_over.store(true, Ordering::Relaxed);
            }
            reporter.events(&mut tell);
            if Instant::now() >= report {
                reporter.send(&link);
                report = Instant::now() + REPORT_EVERY;
            }
            thread::sleep(TICK);
        }
        reporter.events(&mut tell);
        working.join().expect("the worker does not panic")
    })
}

impl<'a> Worker<'a> {
    fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn work(&self, games: &'a Games) -> Result<(), FleetError> {
        let mut matches = Matches::new(games, *self);
        let mut orders = Orders::Play;
        while !self.is_to_stop() {
            self.link.check_admission()?;
            let (new, settings) = self.find_run().unwrap_or_default();
            orders = new.unwrap_or(orders);
            match orders {
                Orders::Drain => {
                    self.reporter.doing(Doing::Stopping);
                    return Ok(());
                }
                Orders::Pause => {
                    self.reporter.doing(Doing::Paused);
                    self.reporter.send(self.link);
                }
                Orders::Play => {
                    matches.play_waiting();
                    if let Some(settings) = settings
                        && let Some(run) = self.read_settings(&settings)?
                    {
                        self.play(games, &mut matches, &run)?;
                        continue;
                    }
                    self.reporter.doing(match self.link.is_connected() {
                        true => Doing::WaitingForLearner,
                        false => Doing::WaitingForServer,
                    });
                }
            }
            pause(self.stop, PAUSE);
        }
        Ok(())
    }

    /// Plays for a run until it is replaced, its settings or the orders change, or it is time to stop.
    fn play(&self, games: &Games, matches: &mut Matches<'a>, run: &RunSettings) -> Result<(), FleetError> {
        let (config, unknown) = run.config()?;
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            self.reporter.warn(format!("the run has settings that this version does not know and ignores: {unknown}"));
        }
        let (rules, _board) = with_board(&run.game)?;
        let game = games.open(&config.game.name, &rules).map_err(FleetError::new)?;
        Session { worker: *self, matches, run, config: &config }.run(game.as_ref())
    }

    /// The order to all workers, unless it cannot be read, and the settings of the run to play for, if there is one.
    fn find_run(&self) -> Result<(Option<Orders>, Option<Vec<u8>>), FleetError> {
        let orders = match read_value(self.link, ORDERS)? {
            None => Some(Orders::default()),
            Some(orders) => {
                let unreadable = |error| self.reporter.warn(format!("the orders to workers cannot be read: {error}"));
                serde_json::from_slice(&orders).map_err(unreadable).ok()
            }
        };
        let run = match &self.settings.run {
            Some(run) => Some(run.clone()),
            None => read_value(self.link, CURRENT)?.map(|run| String::from_utf8_lossy(&run).into_owned()),
        };
        let Some(run) = run else {
            return Ok((orders, None));
        };
        Ok((orders, read_value(self.link, &settings_of(&run))?))
    }

    /// Reads the settings of a run. `None` if they cannot be read, which may pass; fails for those of another version.
    fn read_settings(&self, settings: &[u8]) -> Result<Option<RunSettings>, FleetError> {
        let wrong = |error| format!("the settings of the run: {error}");
        match read_said(settings) {
            Ok(run) => Ok(Some(run)),
            Err(error @ FleetError::Transient(_)) => {
                self.reporter.warn(wrong(error));
                Ok(None)
            }
            Err(error) => Err(FleetError::new(wrong(error))),
        }
    }
}

/// A name that no other process has.
fn name_of(machine: &str, id: u64) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let machine: String = machine.chars().take(40).map(plain).collect();
    format!("{machine}-{:08x}", id >> 32)
}
