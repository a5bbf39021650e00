//! The learner's side: takes in files, publishes networks, watches the workers.

mod intake;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::places::{
    CURRENT, LearnerPlaces, Newest, PROGRESS, find, list, network_of, newest, progress_subject, settings_of,
    write_object,
};
use crate::settings::RunSettings;
use crate::status::{LEARNER, workers};
use crate::{FleetError, Link, TICK, json, lock, pause};
use intake::{Arrivals, Check, Inbox, check};
use jarmo_core::net::{AgentFile, GameVersion};
use jarmo_exact::catalog::CatalogGame;
use jarmo_learn::config::Config;
use jarmo_learn::observe::FleetReport;
use jarmo_learn::run::{Delivery, RunError, Seen, Supply};

const AFTER_TROUBLE: Duration = Duration::from_secs(1); // at the server
const LOOK_EVERY: Duration = Duration::from_secs(2); // at the server; also between two signs of life
const KEPT: usize = 3; // networks of the run, for workers that are reading one
const WEIGHT_STEPS: u16 = 64; // of `AgentFile::rounded`, so that all workers play with the same weights
const LEAVES_AFTER: f64 = 10.0; // seconds without a sign of life; then a learner leaves its workers to others

/// The samples that wait on this machine at most, apart from those of requests under way. More would only be lost time
/// when the learner is killed; the server's queue holds the rest.
const MOST_WAITING: usize = 1 << 19;

/// The bytes a second of the server that networks may take: a fifth of a wire of 1 Gbit/s. With more workers, networks are
/// published less often.
const NETWORK_RATE: f64 = 25e6;

/// The machines that play for a run, through a server.
pub struct NatsSupply {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    link: Link,
    run: String,
    queue: u64,
    settings: String, // as workers read them
    places: LearnerPlaces,
    inbox: Inbox,
    check: Box<Check>,
    arrivals: Mutex<Arrivals>,
    newest: watch::Sender<Option<AgentFile>>, // network
    begun: Instant,
    is_over: AtomicBool,
}

impl NatsSupply {
    /// Connects the run of this identity, in this folder, with a server. Workers that are told no run play for the one
    /// whose learner began last.
    pub fn open<G: CatalogGame>(
        link: Link,
        game: &G,
        run: String,
        folder: &Path,
        config: &Config,
    ) -> Result<NatsSupply, FleetError> {
        let published = RunSettings::new(run.clone(), folder.display().to_string(), GameVersion::of(game), config);
        let queue = config.fleet.queue;
        let shared = Shared {
            queue,
            settings: json(&published),
            places: find(&link, LearnerPlaces::open(&link.context, &run, queue))?,
            inbox: Inbox::open(folder)?,
            check: check(&run, game, &config.selfplay),
            arrivals: Mutex::default(),
            newest: watch::Sender::default(),
            begun: Instant::now(),
            is_over: AtomicBool::new(false),
            link,
            run,
        };
        let (link, runs) = (&shared.link, &shared.places.runs);
        shared.write_settings()?;
        link.wait(runs.put(CURRENT, shared.run.clone().into()))?;
        if let Some(newest) = newest(link, runs, &shared.run)? {
            shared.arrivals().newest = newest.step;
        }
        shared.show_life()?;
        Ok(NatsSupply { shared: Arc::new(shared), threads: Mutex::default() })
    }
}

impl Supply for NatsSupply {
    fn begin(&self, seen: &Seen) -> Result<(), RunError> {
        let ready = self.shared.block_revoked().and_then(|()| self.shared.resume(seen));
        ready.map_err(RunError::new)?;
        let threads = [
            ("intake", Shared::fetch_files as fn(&_)),
            ("second intake", Shared::fetch_files),
            ("networks", Shared::send_networks),
            ("watch", Shared::watch),
        ];
        for (name, work) in threads {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name(name.to_owned());
            let thread = thread.spawn(move || work(&shared)).map_err(RunError::new)?;
            lock(&self.threads).push(thread);
        }
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.shared.arrivals().waiting
    }

    fn take(&self) -> Option<Delivery> {
        let mut arrivals = self.shared.arrivals();
        let (_, delivery) = arrivals.ready.pop_first()?;
        arrivals.waiting -= delivery.samples.len();
        arrivals.seen.insert(delivery.sent.id, delivery.sent.weights);
        Some(delivery)
    }

    fn publish(&self, agent: AgentFile) {
        self.shared.newest.send_replace(Some(agent));
    }

    fn saved(&self, seen: &Seen) -> Result<(), RunError> {
        self.shared.saved(seen).map_err(RunError::new)
    }

    fn report(&self, counted: FleetReport) -> FleetReport {
        let report = &mut self.shared.arrivals().report;
        let FleetReport { files, samples, stale, age, oldest, samples_per_s, bytes_per_s, .. } = counted;
        let (queue, connected) = (self.shared.queue, self.shared.link.is_connected());
        *report = FleetReport {
            files,
            samples,
            stale,
            age,
            oldest,
            samples_per_s,
            bytes_per_s,
            queue,
            connected,
            ..report.clone()
        };
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
                }
                pause(&self.is_over, AFTER_TROUBLE);
            }
        }
    }

    /// Publishes the newest network whenever there is one, but no more often than the server's wire allows.
    fn send_networks(&self) {
        let mut newest = self.newest.subscribe();
        newest.mark_changed();
        let mut written = 0;
        let mut rest = TICK;
        while pause(&self.is_over, rest) {
            rest = TICK;
            let is_new = newest.has_changed().expect("the sender is here");
            let Some(agent) = is_new.then(|| newest.borrow_and_update().clone()).flatten() else {
                continue;
            };
            rest = match self.send_network(agent, written % KEPT) {
                Ok(bytes) => {
                    written += 1;
                    let report = &self.arrivals().report;
                    let readers = report.playing + report.idle;
                    Duration::from_secs_f64(readers as f64 * bytes as f64 / NETWORK_RATE)
                }
                Err(error) => {
                    self.warn(format!("publishing a network: {error}; trying again"));
                    newest.mark_changed();
                    AFTER_TROUBLE
                }
            };
        }
    }

    /// Writes a network in the place of this number, then says that it is the newest. Returns its bytes on the wire.
    fn send_network(&self, agent: AgentFile, place: usize) -> Result<usize, FleetError> {
        let Shared { link, run, places, .. } = self;
        let step = agent.header().provenance.step;
        {
            let newest = &mut self.arrivals().newest; // no worker has it earlier
            *newest = step.max(*newest);
        }
        let bytes = agent.rounded(WEIGHT_STEPS).to_bytes();
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
            let is_missing = |error| !matches!(error, FleetError::Passing(_));
            if looked.is_err_and(is_missing) && self.link.is_connected() {
                let _ = self.restore(); // or the next look does
            }
            if !pause(&self.is_over, LOOK_EVERY) {
                return;
            }
        }
    }

    /// Gives a sign of life. Returns whether the server still has the settings of the run.
    fn show_life(&self) -> Result<bool, FleetError> {
        let report = json(&self.arrivals().report);
        self.link.send(&progress_subject(LEARNER, &self.run), report.into())?;
        let settings = self.link.wait(self.places.runs.get(settings_of(&self.run)));
        Ok(settings?.is_some())
    }

    /// Writes everything again, because the server has lost it, for example with its disk.
    fn restore(&self) -> Result<(), FleetError> {
        find(&self.link, LearnerPlaces::open(&self.link.context, &self.run, self.queue))?;
        self.write_settings()?;
        self.newest.send_modify(|_| ()); // as if it was new
        self.warn("the server had lost the run's settings; they are there again".to_owned());
        Ok(())
    }

    /// Looks at the queue, the workers, the keys that are blocked, and whether workers have another run to play for.
    fn look(&self) -> Result<(), FleetError> {
        let Shared { link, run, places, .. } = self;
        self.block_revoked()?;
        let queued = link.wait(places.samples.get_info())?.state.messages;
        let said = list(link, PROGRESS)?;
        let current = link.wait(places.runs.get(CURRENT))?;
        let is_free = current.is_none_or(|current| {
            let mut lives = said.iter().filter(|life| life.of == LEARNER && *life.name.as_bytes() == *current);
            lives.all(|life| life.age > LEAVES_AFTER)
        });
        if is_free && self.begun.elapsed().as_secs_f64() > LEAVES_AFTER {
            link.wait(places.runs.put(CURRENT, run.clone().into()))?;
        }
        let mut workers = workers(&said);
        workers.retain(|worker| worker.is_here() && (worker.run.is_empty() || worker.run == *run));
        let playing = workers.iter().filter(|worker| worker.plays()).count();
        let report = &mut self.arrivals().report;
        report.queued = queued;
        report.playing = playing;
        report.idle = workers.len() - playing;
        Ok(())
    }
}
