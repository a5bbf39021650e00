//! The worker's side: plays with the newest network of a run and sends files of games.

mod outbox;
mod lookout;
mod session;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::board_file::write_board;
use crate::matches::Matches;
use crate::places::{CURRENT, ORDERS, RUNS, settings_of};
use crate::progress::REPORT_EVERY;
use crate::reporter::Reporter;
use crate::settings::RunSettings;
use crate::{Address, Doing, FleetError, FleetErrorKind, Link, Orders, WorkerEvent, unique};
use jarmo_core::random::stream;
use jarmo_exact::catalog::{Catalog, GameSettings};
use jarmo_host::program::cores;
use jarmo_learn::train::OpenDevice;
use rand::Rng;
use session::Session;

/// The pause between two attempts to reach the server or to find a learner.
const PAUSE: Duration = Duration::from_secs(2);

/// The time between two looks at limits and events.
const TICK: Duration = Duration::from_millis(20);

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

/// Works until `stop` is set, a limit is reached or all workers are told to stop. Then it sends the games that are finished.
/// A server that cannot be reached and a learner that is not there are waited for. Fails where waiting cannot help: a
/// wrong key, another version, a broken setting.
pub fn work<C: Catalog>(
    games: &C,
    settings: &WorkerSettings,
    stop: &AtomicBool,
    mut tell: impl FnMut(WorkerEvent),
) -> Result<(), FleetError> {
    let identity = Identity::new(&settings.name);
    let threads = settings.threads.unwrap_or_else(cores);
    let reporter = Reporter::new(&identity.name, threads);
    let (link, is_over) = (OnceLock::new(), AtomicBool::new(false));
    let worker = Worker {
        games,
        settings,
        identity: &identity,
        threads,
        link: &link,
        reporter: &reporter,
        stop: &is_over,
    };
    thread::scope(|scope| {
        let working = scope.spawn(|| worker.work());
        let begun = Instant::now();
        let mut report = begun;
        while !working.is_finished() {
            let is_late = settings.time.is_some_and(|time| begun.elapsed() >= time);
            let is_enough = settings
                .most_games
                .is_some_and(|most| reporter.games() >= most);
            if is_late || is_enough || stop.load(Ordering::Relaxed) {
                is_over.store(true, Ordering::Relaxed);
            }
            reporter.events(&mut tell);
            if let Some(link) = link.get()
                && Instant::now() >= report
            {
                report = Instant::now() + REPORT_EVERY;
                reporter.send(link);
            }
            thread::sleep(TICK);
        }
        reporter.events(&mut tell);
        working.join().expect("the worker does not panic")
    })
}

struct Worker<'a, C> {
    games: &'a C,
    settings: &'a WorkerSettings,
    identity: &'a Identity,
    threads: usize,
    link: &'a OnceLock<Link>, // once it is connected
    reporter: &'a Reporter,
    stop: &'a AtomicBool,
}

impl<C: Catalog> Worker<'_, C> {
    fn work(&self) -> Result<(), FleetError> {
        let Some(link) = self.connect()? else {
            return Ok(());
        };
        let link = self.link.get_or_init(|| link);
        let mut matches = Matches::new(self.games, link, self.threads, self.reporter);
        let wanted = self.settings.run.as_deref();
        while !self.stop.load(Ordering::Relaxed) {
            link.check_admission()?;
            let Found { run, orders } = find_run(link, wanted).unwrap_or_default();
            match (orders, run) {
                (Orders::Drain, _) => {
                    self.reporter.doing(Doing::Stopping);
                    return Ok(());
                }
                (Orders::Play, Some(run)) => {
                    matches.play_waiting(self.stop);
                    self.play(link, &mut matches, &run)?;
                    continue;
                }
                (Orders::Play, None) => {
                    matches.play_waiting(self.stop);
                    self.reporter.doing(match link.is_connected() {
                        true => Doing::WaitingForLearner,
                        false => Doing::WaitingForServer,
                    });
                }
                (Orders::Pause, _) => {
                    self.reporter.doing(Doing::Paused);
                    self.reporter.send(link);
                }
            }
            pause(self.stop);
        }
        Ok(())
    }

    fn connect(&self) -> Result<Option<Link>, FleetError> {
        while !self.stop.load(Ordering::Relaxed) {
            match Link::open(&self.settings.address, &self.identity.name) {
                Err(error) if error.kind() == FleetErrorKind::Passing => {
                    self.reporter.cannot_send(&error);
                }
                opened => return opened.map(Some),
            }
            pause(self.stop);
        }
        Ok(None)
    }

    /// Plays for a run until it is replaced, its settings or the orders change, or it is time to stop.
    fn play(
        &self,
        link: &Link,
        matches: &mut Matches<'_, C>,
        settings: &[u8],
    ) -> Result<(), FleetError> {
        let run = RunSettings::read(settings)?;
        let (config, unknown) = run.config()?;
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            self.reporter.warn(format!(
                "the run has settings that this version does not know and ignores: {unknown}"
            ));
        }
        let board = write_board(run.board.as_deref())?;
        let session = Session {
            link,
            wanted: self.settings.run.as_deref(),
            settings: &run,
            config: &config,
            worker: &self.identity.name,
            seed: stream(config.run.seed, self.identity.seed).next_u64(),
            threads: self.threads,
            device: &self.settings.device,
            reporter: self.reporter,
            stop: self.stop,
            between: &mut || matches.play_waiting(self.stop),
        };
        let rules = GameSettings {
            board: board.as_ref().map(|board| board.path().to_owned()),
            ..GameSettings::default()
        };
        let played = self.games.with_game(&config.game.name, &rules, session);
        played.map_err(FleetError::new)?
    }
}

/// What tells a process from all others.
struct Identity {
    name: String,
    seed: u64,
}

impl Identity {
    fn new(machine: &str) -> Identity {
        let seed = unique();
        let process = format!("{:08x}", seed >> 32);
        let plain = |letter: char| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => letter,
            _ => '_',
        };
        let machine: String = machine.chars().take(40).map(plain).collect();
        Identity {
            name: format!("{machine}-{process}"),
            seed,
        }
    }
}

/// What a worker finds at the server.
#[derive(Default)]
struct Found {
    /// The settings of the run to play for, if there is one.
    run: Option<Vec<u8>>,
    orders: Orders,
}

fn find_run(link: &Link, wanted: Option<&str>) -> Result<Found, FleetError> {
    let runs = link.wait(link.context().get_key_value(RUNS))?;
    let orders = link.wait(runs.get(ORDERS))?;
    let current = match wanted {
        Some(run) => Some(run.to_owned()),
        None => {
            let current = link.wait(runs.get(CURRENT))?;
            current.map(|run| String::from_utf8_lossy(&run).into_owned())
        }
    };
    let run = match current {
        Some(run) => link.wait(runs.get(settings_of(&run)))?,
        None => None,
    };
    Ok(Found {
        run: run.map(|run| run.to_vec()),
        orders: Orders::read(orders.as_deref()),
    })
}

/// Waits a little, or until `stop` is set.
fn pause(stop: &AtomicBool) {
    let begun = Instant::now();
    while begun.elapsed() < PAUSE && !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
    }
}
