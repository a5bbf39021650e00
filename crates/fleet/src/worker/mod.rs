//! The worker's side: plays with the newest network of a run and sends files of games.

mod outbox;
mod session;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::object_store::ObjectStore;
use serde::Serialize;

use super::card::Card;
use super::matches::Matches;
use super::places::{CARD, NETWORKS, RUN};
use super::progress::Doing;
use super::{Address, FleetError, Link, unique};
use jarmo_core::random::stream;
use jarmo_exact::catalog::{Catalog, GameSettings};
use jarmo_host::files::write_whole;
use jarmo_host::program::cores;
use jarmo_learn::run::FileId;
use jarmo_learn::train::OpenDevice;
pub(super) use session::Report;
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
    /// Threads of self-play; `None` for one per core.
    pub threads: Option<usize>,
    /// The device on which positions are evaluated.
    pub device: OpenDevice,
}

/// An event of a worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event", content = "of")]
pub enum WorkerEvent {
    /// It does something else now.
    Doing(Doing),
    /// It plays for a run: its game and its settings in words.
    Playing(String),
    /// It plays with a network of this many learning steps.
    Network(u64),
    /// The server has a file.
    Sent(SentFile),
    /// An arena has the games of this many pairs.
    Pairs(usize),
    /// Something went wrong and is tried again.
    Warning(String),
}

/// A file that the server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SentFile {
    /// Its name.
    pub id: FileId,
    /// Its samples.
    pub samples: usize,
    /// Its bytes.
    pub bytes: usize,
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
    let report = Report::new(&identity.name, threads);
    let mut matches = Matches::new(games, &link, &identity.name, threads, Arc::clone(&report));
    let mut told = None;
    while !stop.load(Ordering::Relaxed) {
        matches.play_waiting(stop, &mut tell);
        let found = find_run(&link);
        let (places, card) = match found {
            Ok(Some((places, card))) => (places, Card::read(&card)?),
            Ok(None) | Err(_) => {
                let doing = match link.is_connected() {
                    true => Doing::WaitingForLearner,
                    false => Doing::WaitingForServer,
                };
                if told.replace(doing) != Some(doing) {
                    tell(WorkerEvent::Doing(doing));
                }
                report.doing(doing);
                report.send(&link);
                report.events(&mut tell);
                pause(stop);
                continue;
            }
        };
        told = None;
        let config = card.config()?;
        let board = write_board(card.board.as_deref(), "run")?;
        let task = SessionTask {
            link: &link,
            places,
            card: &card,
            config: &config,
            identity: &identity,
            threads,
            device: &settings.device,
            report: Arc::clone(&report),
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
    process: String, // its digits
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
            process,
            seed,
        }
    }

    /// The seed of the games of a run.
    fn seed(&self, run: u64) -> u64 {
        use rand::Rng;
        stream(run, self.seed).next_u64()
    }
}

/// What a worker reads at the server.
pub(super) struct WorkerPlaces {
    run: Store,
    networks: ObjectStore,
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
            Err(error) if !error.may_pass() => return Err(error),
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

/// The run that the server's learner works on, and its card, if there is one.
fn find_run(link: &Link) -> Result<Option<(WorkerPlaces, Vec<u8>)>, FleetError> {
    let run = link.wait(link.context().get_key_value(RUN))?;
    let Some(card) = link.wait(run.get(CARD))? else {
        return Ok(None);
    };
    let networks = link.wait(link.context().get_object_store(NETWORKS))?;
    Ok(Some((WorkerPlaces { run, networks }, card.to_vec())))
}

/// Writes a board to a file of this process, if there is one. Boards that are in use at the same time have different
/// `users`.
pub(super) fn write_board(text: Option<&str>, user: &str) -> Result<Option<BoardFile>, FleetError> {
    let Some(text) = text else {
        return Ok(None);
    };
    let name = format!("jarmo-board-{}-{user}", std::process::id());
    let file = BoardFile(std::env::temp_dir().join(name));
    write_whole(file.path(), text.as_bytes()).map_err(FleetError::new)?;
    Ok(Some(file))
}

/// A file that is deleted when it is dropped.
pub(super) struct BoardFile(std::path::PathBuf);

impl BoardFile {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for BoardFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // a leftover is harmless
    }
}

/// Waits a little, or until `stop` is set.
fn pause(stop: &AtomicBool) {
    let begun = Instant::now();
    while begun.elapsed() < PAUSE && !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
    }
}
