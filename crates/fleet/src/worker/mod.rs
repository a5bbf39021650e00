//! The worker's side: plays with the newest network of a run and sends files of games.

mod outbox;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::Store;

use crate::board_file::write_board;
use crate::matches::Matches;
use crate::places::{CURRENT, RUNS, settings_of};
use crate::reporter::Reporter;
use crate::settings::RunSettings;
use crate::{Address, Doing, FleetError, FleetErrorKind, Link, WorkerEvent, unique};
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
}

/// Works until `stop` is set. Then it sends the games that are finished. A server that cannot be reached and a learner
/// that is not there are waited for. Fails where waiting cannot help: a wrong key, another version, a broken setting.
pub fn work<C: Catalog>(
    games: &C,
    settings: &WorkerSettings,
    stop: &AtomicBool,
    mut tell: impl FnMut(WorkerEvent),
) -> Result<(), FleetError> {
    let identity = Identity::new(&settings.name);
    let Some(link) = connect(settings, &identity, stop, &mut tell)? else {
        return Ok(());
    };
    let threads = settings.threads.unwrap_or_else(cores);
    let reporter = Reporter::new(&identity.name, threads);
    let mut matches = Matches::new(games, &link, &identity.name, threads, Arc::clone(&reporter));
    let wanted = settings.run.as_deref();
    let mut told = None;
    while !stop.load(Ordering::Relaxed) {
        link.check_admission()?;
        matches.play_waiting(stop, &mut tell);
        let Ok(Some((runs, found))) = find_run(&link, wanted) else {
            let doing = match link.is_connected() {
                true => Doing::WaitingForLearner,
                false => Doing::WaitingForServer,
            };
            if told.replace(doing) != Some(doing) {
                tell(WorkerEvent::Doing(doing));
            }
            reporter.doing(doing);
            reporter.send(&link);
            reporter.events(&mut tell);
            pause(stop);
            continue;
        };
        told = None;
        let run = RunSettings::read(&found)?;
        let (config, unknown) = run.config()?;
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            tell(WorkerEvent::Warning(format!(
                "the run has settings that this version does not know and ignores: {unknown}"
            )));
        }
        let board = write_board(run.board.as_deref(), "run")?;
        let task = SessionTask {
            link: &link,
            runs: &runs,
            wanted,
            settings: &run,
            config: &config,
            identity: &identity,
            threads,
            device: &settings.device,
            reporter: Arc::clone(&reporter),
            stop,
            tell: &mut tell,
            between: &mut |tell| matches.play_waiting(stop, tell),
        };
        let rules = GameSettings {
            board: board.as_ref().map(|board| board.path().to_owned()),
            ..GameSettings::default()
        };
        let played = games.with_game(&config.game.name, &rules, task);
        played.map_err(FleetError::new)??;
    }
    Ok(())
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

/// The bucket of runs, and the settings of the run to play for, if there is one.
fn find_run(link: &Link, wanted: Option<&str>) -> Result<Option<(Store, Vec<u8>)>, FleetError> {
    let runs = link.wait(link.context().get_key_value(RUNS))?;
    let current = match wanted {
        Some(run) => Some(run.to_owned()),
        None => {
            let current = link.wait(runs.get(CURRENT))?;
            current.map(|run| String::from_utf8_lossy(&run).into_owned())
        }
    };
    let Some(run) = current else {
        return Ok(None);
    };
    let settings = link.wait(runs.get(settings_of(&run)))?;
    Ok(settings.map(|settings| (runs, settings.to_vec())))
}

/// Waits a little, or until `stop` is set.
fn pause(stop: &AtomicBool) {
    let begun = Instant::now();
    while begun.elapsed() < PAUSE && !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
    }
}
