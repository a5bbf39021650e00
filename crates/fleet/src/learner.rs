//! The learner's side: takes in files, publishes networks, watches the workers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::card::{Alive, Card};
use super::inbox::Inbox;
use super::intake::{Desk, Intake};
use super::networks::Publisher;
use super::places::{ALIVE, CARD, LearnerPlaces, ages};
use super::progress::Workers;
use super::{FleetError, Link};
use jarmo_core::net::{AgentFile, GameVersion};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::program::this_program;
use jarmo_learn::config::Config;
use jarmo_learn::observe::FleetReport;
use jarmo_learn::run::{Delivery, RunError, Seen, Supply};
use jarmo_selfplay::selfplay::EpisodeReader;

/// The pause after something went wrong at the server.
const AFTER_TROUBLE: Duration = Duration::from_secs(1);

/// The time between two looks at the server, and between two signs of life.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Another learner that gave a sign of life within this time is running.
const OTHER_LEARNER: f64 = 10.0;

/// What a learner is.
pub struct LearnerSettings<'a> {
    /// The identity of the run.
    pub run: String,
    /// The folder of the run.
    pub folder: PathBuf,
    /// The settings of the run.
    pub config: &'a Config,
}

/// The machines that play for a run, through a server.
pub struct Learner {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    start: Mutex<Option<Box<dyn Start>>>, // until the run begins
    saved: Box<Saved>,
}

/// Told of the files that a checkpoint has seen.
type Saved = dyn Fn(&Seen) -> Result<(), FleetError> + Send + Sync;

struct Shared {
    link: Link,
    desk: Desk,
    seen: Mutex<Seen>,
    queue: u64,
    newest: Mutex<Option<AgentFile>>, // not published yet
    published: Condvar,
    report: Mutex<FleetReport>,
    shown: Mutex<FleetReport>, // to those who look at the server
    is_over: AtomicBool,
}

/// Starts the threads of a learner when the run begins.
trait Start: Send {
    fn start(self: Box<Self>, seen: &Seen) -> Result<Vec<JoinHandle<()>>, FleetError>;
}

struct Parts<G: CatalogGame> {
    shared: Arc<Shared>,
    places: LearnerPlaces,
    intake: Arc<Intake<G>>,
    alive: Alive,
}

impl Learner {
    /// Takes over a server for a run. Refuses if another run's learner uses it.
    pub fn open<G: CatalogGame>(
        link: Link,
        game: &G,
        settings: LearnerSettings<'_>,
    ) -> Result<Learner, FleetError> {
        let LearnerSettings {
            run,
            folder,
            config,
        } = settings;
        let queue = config.fleet.queue;
        let places = link.wait(LearnerPlaces::open(link.context(), queue))?;
        refuse_other(&link, &places, &run)?;
        let origin = GameVersion::of(game);
        let card = Card::new(run.clone(), origin.clone(), config)?;
        let card = serde_json::to_vec(&card).expect("settings are plain data");
        link.wait(places.run.put(CARD, card.into()))?;
        let alive = Alive {
            run: run.clone(),
            folder: folder.display().to_string(),
            program: this_program(),
            report: FleetReport::default(),
        };
        show_life(&link, &places, &alive)?;
        let reader = EpisodeReader::new(game, &config.selfplay);
        let inbox = Inbox::open(&folder)?;
        let shared = Arc::new(Shared {
            link,
            desk: Desk::new(),
            seen: Mutex::new(Seen::default()),
            queue,
            newest: Mutex::new(None),
            published: Condvar::new(),
            report: Mutex::new(FleetReport {
                connected: true,
                queue,
                ..FleetReport::default()
            }),
            shown: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let intake = Arc::new(Intake::new(run, origin, reader, inbox));
        let keeper = Arc::clone(&intake);
        let parts = Parts {
            shared: Arc::clone(&shared),
            places,
            intake,
            alive,
        };
        Ok(Learner {
            shared,
            threads: Mutex::new(Vec::new()),
            start: Mutex::new(Some(Box::new(parts))),
            saved: Box::new(move |seen| keeper.inbox().forget(seen)),
        })
    }
}

impl Supply for Learner {
    fn begin(&self, seen: &Seen) -> Result<(), RunError> {
        let start = self.start.lock().expect("no thread panics").take();
        let start = start.expect("a run begins once");
        *self.shared.seen.lock().expect("no thread panics") = seen.clone();
        let threads = start.start(seen)?;
        *self.threads.lock().expect("no thread panics") = threads;
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.shared.desk.waiting()
    }

    fn take(&self) -> Option<Delivery> {
        self.shared.desk.take()
    }

    fn publish(&self, agent: AgentFile) {
        *self.shared.newest.lock().expect("no thread panics") = Some(agent);
        self.shared.published.notify_one();
    }

    fn saved(&self, seen: &Seen) -> Result<(), RunError> {
        *self.shared.seen.lock().expect("no thread panics") = seen.clone();
        self.shared.desk.forget(seen);
        Ok((self.saved)(seen)?)
    }

    fn report(&self) -> FleetReport {
        let dropped = self.shared.desk.dropped();
        FleetReport {
            duplicates: dropped.duplicates,
            strange: dropped.strange,
            bad: dropped.bad,
            bytes: dropped.bytes,
            connected: self.shared.link.is_connected(),
            ..self.shared.report.lock().expect("no thread panics").clone()
        }
    }

    fn show(&self, report: &FleetReport) {
        *self.shared.shown.lock().expect("no thread panics") = report.clone();
    }

    fn warnings(&self) -> Vec<String> {
        self.shared.desk.warnings()
    }
}

impl Drop for Learner {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.published.notify_all();
        for thread in self.threads.get_mut().expect("no thread panics").drain(..) {
            let _ = thread.join(); // a panic there was reported when it happened
        }
    }
}

impl<G: CatalogGame> Start for Parts<G> {
    fn start(self: Box<Self>, seen: &Seen) -> Result<Vec<JoinHandle<()>>, FleetError> {
        let Parts {
            shared,
            places,
            intake,
            alive,
        } = *self;
        intake.resume(seen, &shared.desk)?;
        let publisher = Publisher::new(
            alive.run.clone(),
            places.networks.clone(),
            places.run.clone(),
        );
        let places = Arc::new(places);
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn(work).map_err(FleetError::new)
        };
        let (desk, look, send) = (Arc::clone(&shared), Arc::clone(&shared), shared);
        let at = Arc::clone(&places);
        Ok(vec![
            spawn("intake", Box::new(move || take_in(&desk, &at, &intake)))?,
            spawn(
                "networks",
                Box::new(move || send_networks(&send, publisher)),
            )?,
            spawn("watch", Box::new(move || watch(&look, &places, alive)))?,
        ])
    }
}

/// Takes in files until the run is over.
fn take_in<G: CatalogGame>(shared: &Shared, places: &LearnerPlaces, intake: &Intake<G>) {
    while !shared.is_over.load(Ordering::Relaxed) {
        if shared.desk.is_full() {
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        let fetched = intake.fetch(&shared.link, &places.files, &shared.seen, &shared.desk);
        if let Err(error) = fetched {
            if shared.link.is_connected() {
                shared
                    .desk
                    .warn(format!("files of games: {error}; trying again"));
                // The server may have lost its streams, for example with its disk.
                let places = LearnerPlaces::open(shared.link.context(), shared.queue);
                let _ = shared.link.wait(places); // the next attempt says what is wrong
            }
            thread::sleep(AFTER_TROUBLE);
        }
    }
}

/// Publishes the newest network whenever there is one.
fn send_networks(shared: &Shared, mut publisher: Publisher) {
    let mut newest = shared.newest.lock().expect("no thread panics");
    while !shared.is_over.load(Ordering::Relaxed) {
        let Some(agent) = newest.take() else {
            newest = shared.published.wait(newest).expect("no thread panics");
            continue;
        };
        drop(newest);
        let published = publisher.publish(&shared.link, &agent);
        newest = shared.newest.lock().expect("no thread panics");
        if let Err(error) = published {
            shared
                .desk
                .warn(format!("publishing a network: {error}; trying again"));
            newest.get_or_insert(agent); // unless there is a newer one
            drop(newest);
            thread::sleep(AFTER_TROUBLE);
            newest = shared.newest.lock().expect("no thread panics");
        }
    }
}

/// Gives signs of life, and looks at the queue and the workers.
fn watch(shared: &Shared, places: &LearnerPlaces, mut alive: Alive) {
    let workers = Workers::from(places.workers.clone());
    let mut last: Option<Instant> = None;
    while !shared.is_over.load(Ordering::Relaxed) {
        if last.is_some_and(|last| last.elapsed() < LOOK_EVERY) {
            thread::sleep(Duration::from_millis(100));
            continue;
        }
        last = Some(Instant::now());
        let link = &shared.link;
        alive.report = shared.shown.lock().expect("no thread panics").clone();
        let looked = show_life(link, places, &alive).and_then(|()| {
            let queued = link.wait(places.samples.get_info())?.state.messages;
            Ok((queued, workers.list(link)?))
        });
        if let Ok((queued, workers)) = looked {
            let here = workers.iter().filter(|worker| worker.is_here());
            let here = here.count();
            let playing = workers.iter().filter(|worker| worker.plays()).count();
            let mut report = shared.report.lock().expect("no thread panics");
            report.queued = queued;
            report.playing = playing;
            report.idle = here - playing;
        }
    }
}

fn show_life(link: &Link, places: &LearnerPlaces, alive: &Alive) -> Result<(), FleetError> {
    let alive = serde_json::to_vec(alive).expect("names are plain data");
    link.wait(places.run.put(ALIVE, alive.into()))?;
    Ok(())
}

/// Refuses a server on which the learner of another run is alive.
fn refuse_other(link: &Link, places: &LearnerPlaces, run: &str) -> Result<(), FleetError> {
    let Some(entry) = link.wait(places.run.entry(ALIVE))? else {
        return Ok(());
    };
    let Ok(other) = serde_json::from_slice::<Alive>(&entry.value) else {
        return Ok(());
    };
    if other.run == run {
        return Ok(());
    }
    if ages(link, &places.run, &[entry])?[0] < OTHER_LEARNER {
        return Err(FleetError::new(format!(
            "another learner, of the run in {}, uses this server; stop it first, or start another server",
            other.folder
        )));
    }
    Ok(())
}
