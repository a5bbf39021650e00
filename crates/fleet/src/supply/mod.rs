//! The learner's side: takes in files, publishes networks, watches the workers.

mod exam;
mod intake;
mod lease;
mod share;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::places::{
    CURRENT, LIVES, LearnerPlaces, Listed, Newest, PROGRESS, RUNS, find, life_subject, list, look_at, network_of,
    newest, read_value, runs, settings_of, write_object,
};
use crate::settings::RunSettings;
use crate::status::{LEARNER, workers};
use crate::{FleetError, Link, TICK, json, lock, pause};
#[cfg(feature = "fuzz")]
pub(super) use intake::fuzz;
use intake::{Arrivals, Check, Inbox, check};
use jarmo_core::net::{AgentFile, FrozenNet, KernelKind};
use jarmo_facade::AnyGame;
use jarmo_facade::selfplay::SearchAgain;
use jarmo_learn::TrainError;
use jarmo_learn::config::Config;
use jarmo_learn::observe::{FleetCounts, FleetReport};
use jarmo_learn::run::{Delivery, Seen, Supply};
use lease::Lease;
pub use lease::run_id;

const LOST: &str = "another learner has taken this run; its files are that learner's now";
const AFTER_TROUBLE: Duration = Duration::from_secs(1); // at the server
const LOOK_EVERY: Duration = Duration::from_secs(2); // at the server; also between two signs of life
const KEPT: usize = 3; // networks of the run, for workers that are reading one
const WEIGHT_STEPS: u16 = 64; // of `AgentFile::rounded`, so that all workers play with the same weights
const LEAVES_AFTER: f64 = 10.0; // seconds without a sign of life; then a learner leaves its workers to others

/// The largest number of samples that wait on this machine, besides those of pending requests. The server's queue holds
/// the rest, because samples on this machine cost time again if the learner is killed.
const MOST_WAITING: usize = 1 << 19;

/// The bytes per second of the server that networks may use: a fifth of 1 Gbit/s. With more workers, networks are
/// published less often.
const NETWORK_RATE: f64 = 25e6;

/// The longest pause between two networks, whatever number of workers there seems to be.
const LONGEST_PAUSE: f64 = 60.0; // seconds

/// A network is published again after this time, long before the server deletes it.
const AGAIN: Duration = Duration::from_secs(24 * 60 * 60);

/// The machines that play for a run, through a server.
pub struct NatsSupply {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    link: Link,
    run: String,
    queue: u64,
    max_age: u64,
    share: f64,       // the largest of a key
    settings: String, // as workers read them
    lease: Lease,
    lost: OnceLock<String>, // why the run is another learner's
    places: LearnerPlaces,
    inbox: Inbox,
    check: Box<Check>,
    search: SearchAgain,
    kernel: KernelKind, // of the searches
    arrivals: Mutex<Arrivals>,
    newest: watch::Sender<Option<AgentFile>>, // network
    begun: Instant,
    is_over: AtomicBool,
}

impl NatsSupply {
    /// Connects a run, given by its identity and folder, with a server. Workers without `--run` play for the run whose
    /// learner started last.
    pub fn open(
        link: Link,
        game: &dyn AnyGame,
        run: String,
        folder: &Path,
        config: &Config,
    ) -> Result<NatsSupply, FleetError> {
        let published =
            RunSettings::new(run.clone(), folder.display().to_string(), game.facts().version.clone(), config);
        let queue = config.fleet.queue;
        let lease = Lease::take(&link, &find(&link, runs(&link.context))?, &run, folder)?;
        let shared = Shared {
            queue,
            max_age: config.fleet.max_age,
            share: config.fleet.share,
            settings: json(&published),
            places: find(&link, LearnerPlaces::open(&link.context, &run, queue, lease.holder))?,
            lease,
            lost: OnceLock::new(),
            inbox: Inbox::open(folder)?,
            check: check(&run, game, &config.selfplay),
            search: game.search_again(&config.selfplay),
            kernel: config.run.kernel.unwrap_or_else(KernelKind::best),
            arrivals: Mutex::new(Arrivals::new(config.replay.capacity)),
            newest: watch::Sender::default(),
            begun: Instant::now(),
            is_over: AtomicBool::new(false),
            link,
            run,
        };
        let (link, runs) = (&shared.link, &shared.places.runs);
        shared.write_settings()?;
        link.wait(runs.put(CURRENT, shared.run.clone().into()))?;
        match newest(link, &shared.run) {
            Ok(newest) => shared.arrivals().newest = newest.map_or(0, |newest| newest.step),
            Err(error) => {
                shared.arrivals().newest = u64::MAX; // workers may have any
                shared.warn(format!("the newest network at the server: {error}; any step is accepted"));
            }
        }
        shared.show_life()?;
        Ok(NatsSupply { shared: Arc::new(shared), threads: Mutex::default() })
    }
}

impl Supply for NatsSupply {
    fn begin(&self, seen: &Seen) -> Result<(), TrainError> {
        let ready = self.shared.block_revoked().and_then(|()| self.shared.resume(seen));
        ready.map_err(TrainError::new)?;
        let threads = [
            ("intake", Shared::fetch_files as fn(&_)),
            ("second intake", Shared::fetch_files),
            ("networks", Shared::send_networks),
            ("watch", Shared::watch),
            ("exam", Shared::examine),
        ];
        for (name, work) in threads {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name(name.to_owned());
            let thread = thread.spawn(move || work(&shared)).map_err(TrainError::new)?;
            lock(&self.threads).push(thread);
        }
        Ok(())
    }

    fn waiting(&self) -> usize {
        match self.shared.lost.get() {
            Some(_) => usize::MAX, // so that the run asks for a file
            None => self.shared.arrivals().waiting,
        }
    }

    fn take(&self) -> Result<Option<Delivery>, TrainError> {
        match self.shared.lost.get() {
            Some(why) => Err(TrainError::new(why)),
            None => Ok(self.shared.arrivals().take()),
        }
    }

    fn publish(&self, agent: AgentFile) {
        self.shared.newest.send_replace(Some(agent));
    }

    fn saved(&self, seen: &Seen) -> Result<(), TrainError> {
        self.shared.saved(seen).map_err(TrainError::new)
    }

    fn report(&self, counted: FleetCounts) -> FleetReport {
        let report = &mut self.shared.arrivals().report;
        let (queue, connected) = (self.shared.queue, self.shared.link.is_connected());
        *report = FleetReport { counted, queue, connected, ..report.clone() };
        report.clone()
    }

    fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.arrivals().warnings)
    }
}

impl Drop for NatsSupply {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join(); // a panic there was reported when it happened
        }
        let Shared { link, places, lease, .. } = &*self.shared;
        if link.is_connected() && lease.holds(link, &places.runs) == Ok(true) {
            let _ = link.wait(places.runs.delete(&lease.key)); // or the next learner waits until it is old
        }
    }
}

impl Shared {
    fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        lock(&self.arrivals)
    }

    fn warn(&self, warning: String) {
        self.arrivals().warn(warning);
    }

    fn write_settings(&self) -> Result<(), FleetError> {
        let put = self.places.runs.put(settings_of(&self.run), self.settings.clone().into());
        self.link.wait(put).map(|_| ())
    }

    /// Whether the run is still this learner's. If it is not, everything stops.
    fn has_run(&self) -> Result<bool, FleetError> {
        let has_run = self.lease.holds(&self.link, &self.places.runs)?;
        if !has_run {
            self.lost.get_or_init(|| LOST.to_owned());
            self.is_over.store(true, Ordering::Relaxed);
        }
        Ok(has_run)
    }

    /// Opens the streams and buckets again, and creates missing ones. That would take the files from another learner
    /// that has the run now.
    fn open_places(&self) -> Result<(), FleetError> {
        let Shared { link, run, queue, lease, .. } = self;
        match self.has_run() {
            Ok(true) => {}
            Ok(false) => return Err(FleetError::new(LOST)),
            Err(_) if look_at(link, &format!("KV_{RUNS}"))?.is_none() => {} // the server has lost its disk
            Err(error) => return Err(error),
        }
        find(link, LearnerPlaces::open(&link.context, run, *queue, lease.holder)).map(|_| ())
    }

    /// Takes in files until the run is over.
    fn fetch_files(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            if self.arrivals().waiting >= MOST_WAITING {
                thread::sleep(TICK);
                continue;
            }
            if let Err(error) = self.take_in() {
                if self.link.is_connected() {
                    self.warn(format!("files of games: {error}; trying again"));
                    // A server that came back with an older disk does not know this learner.
                    let _ = self.open_places();
                }
                pause(&self.is_over, AFTER_TROUBLE);
            }
        }
    }

    /// Publishes each new network, but not more often than the bandwidth allows.
    fn send_networks(&self) {
        let mut newest = self.newest.subscribe();
        newest.mark_changed();
        let (mut written, mut last) = (0, Instant::now());
        let mut rest = TICK;
        while pause(&self.is_over, rest) {
            rest = TICK;
            let is_new = newest.has_changed().expect("the sender is here") || last.elapsed() > AGAIN;
            let Some(agent) = is_new.then(|| newest.borrow_and_update().clone()).flatten() else {
                continue;
            };
            rest = match self.send_network(agent, written % KEPT) {
                Ok(bytes) => {
                    written += 1;
                    last = Instant::now();
                    let report = &self.arrivals().report;
                    let readers = report.playing + report.idle;
                    Duration::from_secs_f64((readers as f64 * bytes as f64 / NETWORK_RATE).min(LONGEST_PAUSE))
                }
                Err(error) => {
                    self.warn(format!("publishing a network: {error}; trying again"));
                    newest.mark_changed();
                    AFTER_TROUBLE
                }
            };
        }
    }

    /// Writes a network under this number, then announces it as the newest. Returns its compressed size.
    fn send_network(&self, agent: AgentFile, place: usize) -> Result<usize, FleetError> {
        let Shared { link, run, places, .. } = self;
        let step = agent.header().provenance.step;
        {
            let newest = &mut self.arrivals().newest; // no worker has it earlier
            *newest = step.max(*newest);
        }
        let agent = agent.rounded(WEIGHT_STEPS);
        let bytes = agent.to_bytes();
        self.remember(step, FrozenNet::with_kernel(agent.weights(), self.kernel));
        let parcel = write_object(link, &places.networks, &format!("{run}-{place}"), &bytes)?;
        let size = parcel.size;
        link.wait(places.runs.put(network_of(run), json(&Newest { step, parcel }).into()))?;
        Ok(size)
    }

    /// Gives signs of life, and looks at the queue and the workers, until the run is over.
    fn watch(&self) {
        loop {
            let looked = self.show_life().and_then(|is_known| match is_known {
                true => self.look(),
                false => self.restore(),
            });
            let is_missing = |error| !matches!(error, FleetError::Transient(_));
            if looked.is_err_and(is_missing) && self.link.is_connected() {
                let _ = self.restore(); // or the next look does
            }
            if let Err(error) = self.link.check_admission() {
                self.warn(error.to_string());
            }
            if !pause(&self.is_over, LOOK_EVERY) {
                return;
            }
        }
    }

    /// Gives a sign of life. Returns whether the server has the settings of the run.
    fn show_life(&self) -> Result<bool, FleetError> {
        if !self.has_run()? {
            return Ok(true);
        }
        let report = json(&self.arrivals().report);
        self.link.send(&life_subject(LEARNER, &self.run), report.into())?;
        let settings = read_value(&self.link, &settings_of(&self.run))?;
        Ok(settings.as_deref() == Some(self.settings.as_bytes()))
    }

    /// Writes everything again, because the server has lost it, for example with its disk.
    fn restore(&self) -> Result<(), FleetError> {
        self.open_places()?;
        self.write_settings()?;
        self.newest.send_modify(|_| ()); // as if it was new
        self.warn("the server had lost what learners write there, and has it again".to_owned());
        Ok(())
    }

    /// Looks at the queue, the workers, the keys that are blocked, and whether workers have another run to play for.
    fn look(&self) -> Result<(), FleetError> {
        let Shared { link, run, places, .. } = self;
        self.block_revoked()?;
        let queue = link.wait(places.samples.get_info())?;
        let queued = queue.state.messages;
        if queue.config.max_messages.unsigned_abs() > self.queue && queued <= self.queue / 2 {
            // More files than that waited when this learner began.
            self.open_places()?;
        }
        let lives = list(link, LIVES)?;
        if lives.is_empty() && look_at(link, LIVES)?.is_none() {
            return self.restore(); // this stream is in memory: the server was started again
        }
        let current = read_value(link, CURRENT)?;
        if is_free(current.as_deref(), &lives) && self.begun.elapsed().as_secs_f64() > LEAVES_AFTER {
            link.wait(places.runs.put(CURRENT, run.clone().into()))?;
        }
        let mut workers = workers(&list(link, PROGRESS)?);
        workers.retain(|worker| worker.is_here() && (worker.run.is_empty() || worker.run == *run));
        let playing = workers.iter().filter(|worker| worker.plays()).count();
        let report = &mut self.arrivals().report;
        report.queued = queued;
        report.playing = playing;
        report.idle = workers.len() - playing;
        Ok(())
    }
}

/// Whether no learner lives of the run that workers without `--run` play for.
fn is_free(current: Option<&[u8]>, lives: &[Listed]) -> bool {
    current.is_none_or(|current| {
        let mut lives = lives.iter().filter(|life| life.of == LEARNER && *life.name.as_bytes() == *current);
        lives.all(|life| life.age > LEAVES_AFTER)
    })
}
