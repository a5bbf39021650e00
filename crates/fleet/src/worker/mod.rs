//! The worker's side: plays with the newest network of a run and sends files of games.

mod outbox;
mod lookout;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::board_file::write_board;
use crate::matches::Matches;
use crate::places::{CURRENT, ORDERS, RUNS, settings_of};
use crate::reporter::Reporter;
use crate::settings::RunSettings;
use crate::{Address, Doing, FleetError, FleetErrorKind, Link, Orders, WorkerEvent, unique};
use jarmo_core::random::stream;
use jarmo_exact::catalog::{Catalog, GameSettings};
use jarmo_host::program::cores;
use jarmo_learn::train::OpenDevice;
use session::SessionTask;

/// The pause between two attempts to reach the server or to find a learner.
const PAUSE: Duration = Duration::from_secs(2);

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
    let (is_over, has_ended) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while !has_ended.load(Ordering::Relaxed) {
                let is_late = settings.time.is_some_and(|time| begun.elapsed() >= time);
                let games = reporter.games();
                let is_enough = settings.most_games.is_some_and(|most| games >= most);
                if is_late || is_enough || stop.load(Ordering::Relaxed) {
                    is_over.store(true, Ordering::Relaxed);
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        let worker = Worker {
            games,
            settings,
            identity: &identity,
            threads,
            reporter: &reporter,
            stop: &is_over,
        };
        let worked = worker.work(&mut tell);
        has_ended.store(true, Ordering::Relaxed);
        worked
    })
}

struct Worker<'a, C> {
    games: &'a C,
    settings: &'a WorkerSettings,
    identity: &'a Identity,
    threads: usize,
    reporter: &'a Arc<Reporter>,
    stop: &'a AtomicBool,
}

impl<C: Catalog> Worker<'_, C> {
    fn work(&self, tell: &mut impl FnMut(WorkerEvent)) -> Result<(), FleetError> {
        let (reporter, stop) = (self.reporter, self.stop);
        let Some(link) = connect(self.settings, self.identity, stop, tell)? else {
            return Ok(());
        };
        let mut matches = Matches::new(self.games, &link, self.threads, Arc::clone(reporter));
        let wanted = self.settings.run.as_deref();
        let mut told = None;
        while !stop.load(Ordering::Relaxed) {
            link.check_admission()?;
            let found = find_run(&link, wanted);
            let orders = found
                .as_ref()
                .map_or_else(|_| Orders::Play, |found| found.orders);
            if orders == Orders::Drain {
                tell(WorkerEvent::Doing(Doing::Stopping));
                return Ok(());
            }
            if orders == Orders::Play {
                matches.play_waiting(stop, tell);
            }
            let run = match (found, orders) {
                (Ok(Found { run: Some(run), .. }), Orders::Play) => run,
                _ => {
                    let doing = match link.is_connected() {
                        true if orders == Orders::Pause => Doing::Paused,
                        true => Doing::WaitingForLearner,
                        false => Doing::WaitingForServer,
                    };
                    if told.replace(doing) != Some(doing) {
                        tell(WorkerEvent::Doing(doing));
                    }
                    reporter.doing(doing);
                    reporter.send(&link);
                    reporter.events(tell);
                    pause(stop);
                    continue;
                }
            };
            told = None;
            self.play(&link, &mut matches, &run, tell)?;
        }
        Ok(())
    }

    /// Plays for a run until it is replaced, its settings or the orders change, or it is time to stop.
    fn play(
        &self,
        link: &Link,
        matches: &mut Matches<'_, C>,
        settings: &[u8],
        tell: &mut impl FnMut(WorkerEvent),
    ) -> Result<(), FleetError> {
        let run = RunSettings::read(settings)?;
        let (config, unknown) = run.config()?;
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            tell(WorkerEvent::Warning(format!(
                "the run has settings that this version does not know and ignores: {unknown}"
            )));
        }
        let board = write_board(run.board.as_deref(), "run")?;
        let task = SessionTask {
            link,
            wanted: self.settings.run.as_deref(),
            settings: &run,
            config: &config,
            identity: self.identity,
            threads: self.threads,
            device: &self.settings.device,
            reporter: Arc::clone(self.reporter),
            stop: self.stop,
            tell,
            between: &mut |tell| matches.play_waiting(self.stop, tell),
        };
        let rules = GameSettings {
            board: board.as_ref().map(|board| board.path().to_owned()),
            ..GameSettings::default()
        };
        let played = self.games.with_game(&config.game.name, &rules, task);
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

    /// The seed of the games of a run.
    fn seed(&self, run: u64) -> u64 {
        use rand::Rng;
        stream(run, self.seed).next_u64()
    }
}

fn connect(
    settings: &WorkerSettings,
    identity: &Identity,
    stop: &AtomicBool,
    tell: &mut impl FnMut(WorkerEvent),
) -> Result<Option<Link>, FleetError> {
    let mut told = false;
    loop {
        match Link::open(&settings.address, &identity.name) {
            Ok(link) => return Ok(Some(link)),
            Err(error) if error.kind() != FleetErrorKind::Passing => return Err(error),
            Err(error) if !told => {
                told = true;
                tell(WorkerEvent::Warning(format!("{error}; trying again")));
                tell(WorkerEvent::Doing(Doing::WaitingForServer));
            }
            Err(_) => {}
        }
        pause(stop);
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

/// What a worker finds at the server.
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
