//! The worker's side: plays with the newest network of a run, sends files of games, and plays matches of arenas.

mod matches;
mod reporter;
mod session;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::Store;

use crate::places::{CURRENT, ORDERS, RUNS, settings_of};
use crate::settings::{RunSettings, read_said, with_board};
use crate::status::REPORT_EVERY;
use crate::{Address, Doing, FleetError, Link, Orders, TICK, WorkerStatus, pause, unique};
use jarmo_exact::catalog::Catalog;
use jarmo_host::program::cores;
use jarmo_learn::train::OpenDevice;
use matches::Matches;
use reporter::Reporter;
pub use reporter::WorkerEvent;
use session::Session;

const PAUSE: Duration = Duration::from_secs(2); // between two attempts to reach the server or to find a learner
const AGAIN: Duration = Duration::from_millis(500); // before something is sent again

/// What a worker is.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The server.
    pub address: Address,
    /// The name of this machine in lists. A few digits that tell processes apart are added.
    pub name: String,
    /// The only run to play for, by its identity; `None` for the one whose learner began last.
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

/// Works until `stop` is set, a limit is reached or all workers are told to stop. Then it sends the games that are finished.
/// A server that cannot be reached and a learner that is not there are waited for. Fails where waiting cannot help: a
/// wrong key, another version, a broken setting. `tell` gets every event, and what the worker has done so far.
pub fn work<C: Catalog>(
    games: &C,
    settings: &WorkerSettings,
    stop: &AtomicBool,
    mut tell: impl FnMut(&WorkerEvent, &WorkerStatus),
) -> Result<(), FleetError> {
    let begun = Instant::now();
    let is_late = || settings.time.is_some_and(|time| begun.elapsed() >= time);
    let id = unique();
    let name = name_of(&settings.name, id);
    let threads = settings.threads.unwrap_or_else(cores);
    let reporter = Reporter::new(&name, threads);
    let link = loop {
        match Link::open(&settings.address, &name) {
            Err(error @ FleetError::Passing(_)) => reporter.cannot_send(&error),
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

    fn work(&self, games: &'a impl Catalog) -> Result<(), FleetError> {
        let mut matches = Matches::new(games, *self);
        while !self.is_to_stop() {
            self.link.check_admission()?;
            let (orders, run) = self.find_run().map_or((Orders::Play, None), |(orders, _, run)| (orders, run));
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
                    if let Some(run) = run {
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
    fn play<C: Catalog>(&self, games: &C, matches: &mut Matches<'a, C>, settings: &[u8]) -> Result<(), FleetError> {
        let run: RunSettings =
            read_said(settings).map_err(|error| FleetError::new(format!("the settings of the run: {error}")))?;
        let (config, unknown) = run.config()?;
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            self.reporter.warn(format!("the run has settings that this version does not know and ignores: {unknown}"));
        }
        let (rules, _board) = with_board(&run.game)?;
        let session = Session { worker: *self, matches, run: &run, config: &config };
        let played = games.with_game(&config.game.name, &rules, session);
        played.map_err(FleetError::new)?
    }

    /// What all workers are to do, the bucket of runs, and the settings of the run to play for, if there is one.
    fn find_run(&self) -> Result<(Orders, Store, Option<Vec<u8>>), FleetError> {
        let runs = self.link.wait(self.link.context.get_key_value(RUNS))?;
        let get = |key: String| self.link.wait(runs.get(key));
        let orders = get(ORDERS.to_owned())?;
        // Orders of a newer version are ignored.
        let orders = orders.and_then(|orders| serde_json::from_slice(&orders).ok()).unwrap_or_default();
        let run = match &self.settings.run {
            Some(run) => Some(run.clone()),
            None => get(CURRENT.to_owned())?.map(|run| String::from_utf8_lossy(&run).into_owned()),
        };
        let settings = run.map(|run| get(settings_of(&run))).transpose()?.flatten().map(Vec::from);
        Ok((orders, runs, settings))
    }
}

/// A name that no other process has.
fn name_of(machine: &str, id: u64) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let machine: String = machine.chars().take(40).map(plain).collect();
    format!("{machine}-{:08x}", id >> 32)
}
