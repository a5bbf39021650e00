//! The learner's side: takes in files, publishes networks, watches the workers.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::inbox::Inbox;
use super::intake::{Arrivals, Intake, LEAST_BATCH, MOST_BATCH};
use super::networks::{Publisher, newest};
use super::places::{
    BLOCKED, CURRENT, LearnerPlaces, PROGRESS, list, progress_subject, settings_of,
};
use super::progress::{LEARNER, said_as, workers};
use super::settings::RunSettings;
use super::{FleetError, FleetErrorKind, Link};
use jarmo_core::net::{AgentFile, GameVersion};
use jarmo_exact::catalog::CatalogGame;
use jarmo_learn::config::Config;
use jarmo_learn::observe::FleetReport;
use jarmo_learn::run::{Delivery, RunError, Seen, Supply};
use jarmo_selfplay::selfplay::EpisodeReader;

/// The bytes a second of the server that networks may take: a fifth of a wire of 1 Gbit/s. With more workers, networks are
/// published less often.
const NETWORK_RATE: f64 = 25e6;

/// The pause after something went wrong at the server.
const AFTER_TROUBLE: Duration = Duration::from_secs(1);

/// The time between two looks at the server, and between two signs of life.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A learner that gave no sign of life for so many seconds leaves its workers to others.
const LEAVES_AFTER: f64 = 10.0;

/// Whose machines play.
pub struct SupplySettings<'a> {
    /// The identity of the run.
    pub run: String,
    /// The folder of the run.
    pub folder: PathBuf,
    /// The settings of the run.
    pub config: &'a Config,
}

/// The machines that play for a run, through a server.
pub struct NatsSupply {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    start: Mutex<Option<Box<Start>>>, // until the run begins
}

/// Starts the threads when the run begins.
type Start = dyn FnOnce() -> Result<Vec<JoinHandle<()>>, FleetError> + Send;

struct Shared {
    link: Link,
    run: String,
    queue: u64,
    settings: Vec<u8>, // as workers read them
    inbox: Arc<Inbox>,
    arrivals: Arc<Arrivals>,
    networks: Mutex<Networks>,
    changed: Condvar, // there is a network to publish, or the run is over
    report: Mutex<FleetReport>,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Networks {
    waiting: Option<AgentFile>,   // to be published
    published: Option<AgentFile>, // the newest one that was
}

impl NatsSupply {
    /// Connects a run with a server. Workers that are told no run play for the one whose learner began last.
    pub fn open<G: CatalogGame>(
        link: Link,
        game: &G,
        settings: SupplySettings<'_>,
    ) -> Result<NatsSupply, FleetError> {
        let SupplySettings {
            run,
            folder,
            config,
        } = settings;
        let origin = GameVersion::of(game);
        let reader = EpisodeReader::new(game, &config.selfplay);
        let shown = folder.display().to_string();
        let published = RunSettings::new(run.clone(), shown, origin.clone(), config)?;
        let shared = Arc::new(Shared {
            link,
            run: run.clone(),
            queue: config.fleet.queue,
            settings: serde_json::to_vec(&published).expect("settings are plain data"),
            inbox: Arc::new(Inbox::open(&folder)?),
            arrivals: Arc::default(),
            networks: Mutex::default(),
            changed: Condvar::new(),
            report: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let places = shared.announce()?;
        let link = &shared.link;
        link.wait(places.runs.put(CURRENT, run.clone().into()))?;
        if let Some(newest) = newest(link, &places.runs, &run)? {
            shared.arrivals.published(newest.step);
        }
        let watch = Watch {
            shared: Arc::clone(&shared),
            begun: Instant::now(),
            places,
        };
        watch.show_life()?;
        let intake = Intake {
            run,
            origin,
            reader,
            inbox: Arc::clone(&shared.inbox),
            arrivals: Arc::clone(&shared.arrivals),
        };
        let start = {
            let shared = Arc::clone(&shared);
            move || start(&shared, watch, intake)
        };
        Ok(NatsSupply {
            shared,
            threads: Mutex::default(),
            start: Mutex::new(Some(Box::new(start))),
        })
    }
}

impl Supply for NatsSupply {
    fn begin(&self, seen: &Seen) -> Result<(), RunError> {
        let start = lock(&self.start).take();
        self.shared.arrivals.begin(seen);
        *lock(&self.threads) = start.expect("a run begins once")()?;
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.shared.arrivals.waiting()
    }

    fn take(&self) -> Option<Delivery> {
        self.shared.arrivals.take()
    }

    fn publish(&self, agent: AgentFile) {
        lock(&self.shared.networks).waiting = Some(agent);
        self.shared.changed.notify_one();
    }

    fn saved(&self) -> Result<(), RunError> {
        Ok(self.shared.arrivals.saved(&self.shared.inbox)?)
    }

    fn report(&self, counted: FleetReport) -> FleetReport {
        let dropped = self.shared.arrivals.counted();
        let mut report = lock(&self.shared.report);
        *report = FleetReport {
            duplicates: dropped.duplicates,
            blocked: dropped.blocked,
            bad: dropped.bad,
            bytes: dropped.bytes,
            connected: self.shared.link.is_connected(),
            queue: self.shared.queue,
            queued: report.queued,
            playing: report.playing,
            idle: report.idle,
            ..counted
        };
        report.clone()
    }

    fn warnings(&self) -> Vec<String> {
        self.shared.arrivals.warnings()
    }
}

impl Drop for NatsSupply {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join(); // a panic there was reported when it happened
        }
    }
}

fn start<G: CatalogGame>(
    shared: &Arc<Shared>,
    watch: Watch,
    intake: Intake<G>,
) -> Result<Vec<JoinHandle<()>>, FleetError> {
    intake.resume()?;
    let places = watch.places.clone();
    let publisher = Publisher {
        run: shared.run.clone(),
        networks: places.networks.clone(),
        bucket: places.runs.clone(),
        written: 0,
    };
    let (taking, sending) = (Arc::clone(shared), Arc::clone(shared));
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(work).map_err(FleetError::new)
    };
    Ok(vec![
        spawn("intake", Box::new(move || taking.take_in(&places, &intake)))?,
        spawn(
            "networks",
            Box::new(move || sending.send_networks(publisher)),
        )?,
        spawn("watch", Box::new(move || watch.run()))?,
    ])
}

impl Shared {
    /// Makes what is missing at the server, and writes the settings of the run.
    fn announce(&self) -> Result<LearnerPlaces, FleetError> {
        let open = LearnerPlaces::open(self.link.context(), &self.run, self.queue);
        let places = self.link.wait(open)?;
        let settings = self.settings.clone().into();
        self.link
            .wait(places.runs.put(settings_of(&self.run), settings))?;
        Ok(places)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Takes in files until the run is over, in larger batches the less of them wait for the loop.
    fn take_in<G: CatalogGame>(&self, places: &LearnerPlaces, intake: &Intake<G>) {
        let mut batch = LEAST_BATCH;
        while !self.is_over() {
            if self.arrivals.is_full() {
                batch = LEAST_BATCH;
                thread::sleep(Duration::from_millis(10));
                continue;
            }
            if let Err(error) = intake.fetch(&self.link, &places.files, batch) {
                if self.link.is_connected() {
                    self.arrivals
                        .warn(format!("files of games: {error}; trying again"));
                }
                thread::sleep(AFTER_TROUBLE);
            }
            batch = (2 * batch).min(MOST_BATCH);
        }
    }

    /// Publishes the newest network whenever there is one, but no more often than the server's wire allows.
    fn send_networks(&self, mut publisher: Publisher) {
        let mut free = Instant::now(); // to publish again
        let mut networks = lock(&self.networks);
        while !self.is_over() {
            let wait = free.saturating_duration_since(Instant::now());
            if networks.waiting.is_none() || !wait.is_zero() {
                let wait = match networks.waiting {
                    None => LOOK_EVERY,
                    Some(_) => wait,
                };
                let woken = self.changed.wait_timeout(networks, wait);
                networks = woken.expect("no thread panics").0;
                continue;
            }
            let Some(agent) = networks.waiting.take() else {
                continue;
            };
            drop(networks);
            // No worker has it earlier.
            self.arrivals.published(agent.header().provenance.step);
            let published = publisher.publish(&self.link, agent.clone());
            networks = lock(&self.networks);
            match published {
                Ok(bytes) => {
                    networks.published = Some(agent);
                    let report = lock(&self.report);
                    let readers = report.playing + report.idle;
                    free = Instant::now() + interval(readers, bytes);
                }
                Err(error) => {
                    self.arrivals
                        .warn(format!("publishing a network: {error}; trying again"));
                    networks.waiting.get_or_insert(agent); // unless there is a newer one
                    free = Instant::now() + AFTER_TROUBLE;
                }
            }
        }
    }
}

/// The time between two networks of this size, when so many workers read each of them.
fn interval(readers: usize, bytes: usize) -> Duration {
    Duration::from_secs_f64(readers as f64 * bytes as f64 / NETWORK_RATE)
}

/// Gives signs of life, and looks at the queue and the workers.
struct Watch {
    shared: Arc<Shared>,
    begun: Instant,
    places: LearnerPlaces,
}

impl Watch {
    fn run(mut self) {
        let mut last: Option<Instant> = None;
        while !self.shared.is_over() {
            if last.is_some_and(|last| last.elapsed() < LOOK_EVERY) {
                thread::sleep(Duration::from_millis(100));
                continue;
            }
            last = Some(Instant::now());
            let looked = self.show_life().and_then(|is_known| match is_known {
                true => self.look(),
                false => self.restore(),
            });
            let is_missing = |error: FleetError| error.kind() != FleetErrorKind::Passing;
            if looked.is_err_and(is_missing) && self.shared.link.is_connected() {
                let _ = self.restore(); // or the next look does
            }
        }
    }

    /// Gives a sign of life. Returns whether the server still has the settings of the run.
    fn show_life(&self) -> Result<bool, FleetError> {
        let Shared { link, run, .. } = &*self.shared;
        let report = serde_json::to_vec(&*lock(&self.shared.report));
        let report = report.expect("a report is plain data");
        link.send(&progress_subject(LEARNER, run), report)?;
        Ok(link.wait(self.places.runs.get(settings_of(run)))?.is_some())
    }

    /// Writes everything again, because the server has lost it, for example with its disk.
    fn restore(&mut self) -> Result<(), FleetError> {
        self.places = self.shared.announce()?;
        let mut networks = lock(&self.shared.networks);
        if networks.waiting.is_none() {
            networks.waiting = networks.published.clone();
        }
        self.shared.changed.notify_one();
        let lost = "the server had lost the run's settings; they are there again";
        self.shared.arrivals.warn(lost.to_owned());
        Ok(())
    }

    /// Looks at the queue, the workers, the keys that are blocked, and whether workers have another run to play for.
    fn look(&self) -> Result<(), FleetError> {
        let Shared {
            link,
            run,
            arrivals,
            inbox,
            ..
        } = &*self.shared;
        let runs = &self.places.runs;
        if let Some(keys) = link.wait(runs.get(BLOCKED))? {
            let keys: BTreeSet<String> = serde_json::from_slice(&keys).map_err(FleetError::new)?;
            arrivals.block(keys, inbox)?;
        }
        let queued = link.wait(self.places.samples.get_info())?.state.messages;
        let said = list(link, PROGRESS)?;
        let current = link.wait(runs.get(CURRENT))?;
        let is_free = current.is_none_or(|current| {
            let mut others = said_as(&said, LEARNER);
            let other = others.find(|(run, _)| *run.as_bytes() == *current);
            other.is_none_or(|(_, life)| life.age > LEAVES_AFTER)
        });
        if is_free && self.begun.elapsed().as_secs_f64() > LEAVES_AFTER {
            link.wait(runs.put(CURRENT, run.clone().into()))?;
        }
        let mut workers = workers(&said);
        workers.retain(|worker| worker.is_here() && (worker.run.is_empty() || worker.run == *run));
        let playing = workers.iter().filter(|worker| worker.plays()).count();
        let mut report = lock(&self.shared.report);
        report.queued = queued;
        report.playing = playing;
        report.idle = workers.len() - playing;
        Ok(())
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().expect("no thread panics")
}
