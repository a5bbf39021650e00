//! Playing for one run, with one set of settings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;

use super::outbox::{FAREWELL, Outbox, Parcel, Unsent};
use super::{Identity, SentFile, WorkerEvent, WorkerPlaces, find_run};
use crate::card::Card;
use crate::networks::newer;
use crate::places::WORKERS;
use crate::{Doing, FleetError, GameFile, GameFileHeader, Link, MOST_BYTES, Progress};
use jarmo_core::net::{AgentFile, GameVersion};
use jarmo_exact::catalog::{CatalogGame, GameTask};
use jarmo_host::program::this_program;
use jarmo_learn::config::Config;
use jarmo_learn::run::{BoxedEvaluator, evaluators};
use jarmo_learn::train::OpenDevice;
use jarmo_selfplay::selfplay::{Counts, Episode, SelfPlay, SelfPlaySettings};

/// A file is sent when it has this many samples,
const FILE_SAMPLES: usize = 4096;

/// or this many bytes before compression, so that it stays below the limit of a message,
const PLAIN_BYTES: usize = MOST_BYTES - 100_000;

/// or when it is this old and not empty, so that a slow worker's games do not get too old.
const FILE_AGE: Duration = Duration::from_secs(20);

/// The time between two reports, and between two looks for a newer network.
const REPORT_EVERY: Duration = Duration::from_secs(2);

/// Plays for a run until it is replaced, its settings change, or `stop` is set.
pub(super) struct SessionTask<'a, T> {
    pub(super) link: &'a Link,
    pub(super) places: WorkerPlaces,
    pub(super) card: &'a Card,
    pub(super) config: &'a Config,
    pub(super) identity: &'a Identity,
    pub(super) threads: usize,
    pub(super) device: &'a OpenDevice,
    pub(super) report: Arc<Report>,
    pub(super) stop: &'a AtomicBool,
    pub(super) tell: &'a mut T,
    /// Called between two rounds of self-play, and while a file waits for room.
    pub(super) between: &'a mut dyn FnMut(&mut T),
}

impl<T: FnMut(WorkerEvent)> GameTask for SessionTask<'_, T> {
    type Output = Result<(), FleetError>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), FleetError> {
        let origin = GameVersion::of(&game);
        let check = self.card.game.check(&origin);
        check.map_err(|problem| FleetError::new(format!("the run's network: {problem}")))?;
        let run = &self.card.run;
        let mailbox = Mailbox {
            newest: Mutex::new(None),
            is_over: AtomicBool::new(false),
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                look_after(self.link, &self.places, self.card, &self.report, &mailbox);
            });
            let stop = self.stop;
            let played = Session {
                origin,
                run,
                mailbox: &mailbox,
                file: Pending::default(),
                unsent: 0,
                worker: &self.identity.name,
                report: &self.report,
                stop,
                tell: self.tell,
                between: self.between,
            }
            .play(
                game,
                self.config,
                self.identity.seed(self.config.run.seed),
                self.threads,
                self.device,
                Outbox::start(
                    self.link.clone(),
                    &self.identity.process,
                    Arc::clone(&self.report),
                ),
            );
            mailbox.is_over.store(true, Ordering::Relaxed);
            played
        })
    }
}

/// What the thread that looks after the session hands to the one that plays.
struct Mailbox {
    newest: Mutex<Option<AgentFile>>,
    is_over: AtomicBool, // the run was replaced, its settings changed, or the session ended
}

struct Session<'a, T> {
    origin: GameVersion,
    run: &'a str,
    mailbox: &'a Mailbox,
    file: Pending,
    unsent: usize, // files that were given up
    worker: &'a str,
    report: &'a Report,
    stop: &'a AtomicBool,
    tell: &'a mut T,
    between: &'a mut dyn FnMut(&mut T),
}

impl<T: FnMut(WorkerEvent)> Session<'_, T> {
    fn play<G: CatalogGame>(
        mut self,
        game: G,
        config: &Config,
        seed: u64,
        threads: usize,
        device: &OpenDevice,
        outbox: Outbox,
    ) -> Result<(), FleetError> {
        let settings = SelfPlaySettings {
            games: config.fleet.games * threads,
            ..config.selfplay
        };
        (self.tell)(WorkerEvent::Playing(format!(
            "{}, {}, {} games in parallel, {} simulations",
            config.game.name, config.net, settings.games, settings.simulations
        )));
        let Some(agent) = self.first_network() else {
            outbox.finish();
            return Ok(());
        };
        let make = |agent: &AgentFile| -> Vec<BoxedEvaluator<G>> {
            evaluators(&game, agent.weights(), device, threads)
        };
        let fits = agent.clone().for_game(&game);
        fits.map_err(|error| FleetError::new(format!("the run's network: {error}")))?;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(FleetError::new)?;
        let mut play = SelfPlay::new(&game, &settings, make(&agent), seed);
        let mut step = agent.header().provenance.step;
        play.keep_episodes(step);
        self.network(step);
        while !self.is_over() {
            if let Some(agent) = self.mailbox.take() {
                step = agent.header().provenance.step;
                play.replace_evaluators(make(&agent));
                play.keep_episodes(step);
                self.network(step);
            }
            let round = pool.install(|| play.round());
            self.report.played(&round.counts);
            self.file
                .add(round.episodes, round.samples.len(), &round.counts);
            if self.file.is_full() {
                self.send(&outbox);
            }
            self.report.events(&mut *self.tell);
            (self.between)(&mut *self.tell);
        }
        self.report.doing(Doing::Stopping);
        (self.tell)(WorkerEvent::Doing(Doing::Stopping));
        if !self.file.games.is_empty() {
            self.send(&outbox);
        }
        let unsent = self.unsent + outbox.finish();
        self.report.events(&mut *self.tell);
        if unsent > 0 {
            return Err(FleetError::new(format!(
                "{unsent} file(s) of games could not be sent within {} s and are lost: the queue is full, or the \
                 server is away",
                FAREWELL.as_secs()
            )));
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.mailbox.is_over.load(Ordering::Relaxed)
    }

    /// Waits for a network. `None` if the session is over before.
    fn first_network(&mut self) -> Option<AgentFile> {
        loop {
            if let Some(agent) = self.mailbox.take() {
                return Some(agent);
            }
            if self.is_over() {
                return None;
            }
            self.report.doing(Doing::WaitingForLearner);
            (self.between)(&mut *self.tell);
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn network(&mut self, step: u64) {
        self.report.network(self.run, step);
        (self.tell)(WorkerEvent::Network(step));
    }

    /// Hands the file over. While there is no room for it, the worker waits; for a limited time, if it is to stop.
    fn send(&mut self, outbox: &Outbox) {
        let header = GameFileHeader {
            run: self.run.to_owned(),
            origin: self.origin.clone(),
            worker: self.worker.to_owned(),
            program: this_program(),
            counts: self.file.counts,
        };
        let samples = self.file.samples;
        let games = std::mem::take(&mut self.file).games;
        let bytes = GameFile { header, games }.to_bytes();
        let mut parcel = Some(Parcel { bytes, samples });
        while let Some(waiting) = parcel.take() {
            parcel = outbox.offer(waiting);
            if parcel.is_some() {
                if self.is_over() {
                    outbox.hurry();
                    if outbox.is_late() {
                        self.unsent += 1;
                        return;
                    }
                } else {
                    (self.between)(&mut *self.tell); // matches do not wait for a learner
                }
                self.report.events(&mut *self.tell);
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

impl Mailbox {
    fn take(&self) -> Option<AgentFile> {
        self.newest.lock().expect("no thread panics").take()
    }
}

/// Finished games that are in no file yet.
struct Pending {
    games: Vec<Episode>,
    samples: usize,
    bytes: usize,
    counts: Counts,
    since: Instant,
}

impl Default for Pending {
    fn default() -> Pending {
        Pending {
            games: Vec::new(),
            samples: 0,
            bytes: 0,
            counts: Counts::default(),
            since: Instant::now(),
        }
    }
}

impl Pending {
    fn add(&mut self, games: Vec<Episode>, samples: usize, counts: &Counts) {
        self.samples += samples;
        self.counts.add(counts);
        let search = |policy: &[f32]| 4 * policy.len() + 14; // with expectation and length
        for game in &games {
            let searches = game.searches.iter().map(|found| search(&found.policy));
            let actions = 2 * game.game.actions().len();
            self.bytes += searches.sum::<usize>() + actions + game.game.start_text().len() + 17;
        }
        self.games.extend(games);
    }

    fn is_full(&self) -> bool {
        !self.games.is_empty()
            && (self.samples >= FILE_SAMPLES
                || self.bytes >= PLAIN_BYTES
                || self.since.elapsed() >= FILE_AGE)
    }
}

/// Looks for newer networks and other settings, and reports, until the session is over.
fn look_after(link: &Link, places: &WorkerPlaces, card: &Card, report: &Report, mailbox: &Mailbox) {
    let mut known = None;
    let mut next = Instant::now();
    while !mailbox.is_over.load(Ordering::Relaxed) {
        if Instant::now() < next {
            thread::sleep(Duration::from_millis(50));
            continue;
        }
        next = Instant::now() + REPORT_EVERY;
        match newer(link, &places.run, &places.networks, &card.run, known) {
            Ok(Some(agent)) => {
                known = Some(agent.header().provenance.step);
                *mailbox.newest.lock().expect("no thread panics") = Some(agent);
            }
            Ok(None) => {}
            Err(error) => report.warn(format!("the newest network: {error}")),
        }
        if let Ok(Some((_, now))) = find_run(link)
            && Card::read(&now).as_ref() != Ok(card)
        {
            mailbox.is_over.store(true, Ordering::Relaxed);
        }
        report.send(link);
    }
}

/// What the threads of a worker know of its progress.
pub(crate) struct Report {
    state: Mutex<State>,
}

struct State {
    progress: Progress,
    played: Instant,
    reported: Instant,
    at_report: (u64, u64), // positions and games at the last report
    events: Vec<WorkerEvent>,
}

impl Report {
    pub(super) fn new(worker: &str, threads: usize) -> Arc<Report> {
        let progress = Progress {
            worker: worker.to_owned(),
            program: this_program(),
            threads,
            ..Progress::default()
        };
        Arc::new(Report {
            state: Mutex::new(State {
                progress,
                played: Instant::now(),
                reported: Instant::now(),
                at_report: (0, 0),
                events: Vec::new(),
            }),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with the report")
    }

    pub(crate) fn doing_now(&self) -> Doing {
        self.lock().progress.doing
    }

    pub(crate) fn doing(&self, doing: Doing) {
        self.lock().progress.doing = doing;
    }

    fn network(&self, run: &str, step: u64) {
        let progress = &mut self.lock().progress;
        progress.run = run.to_owned();
        progress.weights = step;
    }

    fn played(&self, counts: &Counts) {
        let mut state = self.lock();
        state.played = Instant::now();
        state.progress.positions += counts.positions;
        state.progress.games += counts.games.games;
        if matches!(
            state.progress.doing,
            Doing::Starting | Doing::WaitingForLearner
        ) {
            state.progress.doing = Doing::Playing;
            state.events.push(WorkerEvent::Doing(Doing::Playing));
        }
    }

    pub(super) fn sent(&self, file: SentFile) {
        let mut state = self.lock();
        state.progress.files += 1;
        state.progress.samples += file.samples as u64;
        state.progress.bytes += file.bytes as u64;
        state.events.push(WorkerEvent::Sent(file));
        if state.progress.doing != Doing::Stopping {
            state.progress.doing = Doing::Playing;
        }
    }

    pub(crate) fn pairs(&self, pairs: usize) {
        let mut state = self.lock();
        state.played = Instant::now();
        state.progress.pairs += pairs as u64;
        state.progress.games += 2 * pairs as u64;
        state.events.push(WorkerEvent::Pairs(pairs));
    }

    pub(super) fn cannot_send(&self, problem: Unsent) {
        let doing = problem.doing();
        let mut state = self.lock();
        if state.progress.doing != doing && state.progress.doing != Doing::Stopping {
            state.progress.doing = doing;
            state.events.push(WorkerEvent::Doing(doing));
            if let Unsent::Failed(error) = problem {
                state.events.push(WorkerEvent::Warning(error.to_string()));
            }
        }
    }

    pub(crate) fn warn(&self, warning: String) {
        let mut state = self.lock();
        let event = WorkerEvent::Warning(warning);
        if !state.events.contains(&event) {
            state.events.push(event);
        }
    }

    /// Tells what has happened since the last call.
    pub(crate) fn events(&self, tell: &mut impl FnMut(WorkerEvent)) {
        let events = std::mem::take(&mut self.lock().events);
        events.into_iter().for_each(tell);
    }

    /// Sends the progress. A report that does not arrive is replaced by the next one.
    pub(crate) fn send(&self, link: &Link) {
        let progress = {
            let mut state = self.lock();
            let seconds = state.reported.elapsed().as_secs_f64().max(1e-3);
            let (positions, games) = (state.progress.positions, state.progress.games);
            let since_played = state.played.elapsed().as_secs_f64();
            let (old_positions, old_games) = state.at_report;
            state.progress.positions_per_s = (positions - old_positions) as f64 / seconds;
            state.progress.games_per_s = (games - old_games) as f64 / seconds;
            state.progress.since_played = since_played;
            state.at_report = (positions, games);
            state.reported = Instant::now();
            state.progress.clone()
        };
        let subject = format!("$KV.{WORKERS}.{}.{}", link.user(), progress.worker);
        let text = serde_json::to_vec(&progress).expect("progress is plain data");
        let _ = link.wait(link.client().publish(subject, text.into()));
    }
}
