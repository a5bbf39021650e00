//! Playing for one run, with one set of settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;

use super::Identity;
use super::lookout::{Lookout, News};
use super::outbox::{FAREWELL, Outbox, OutgoingFile};
use crate::reporter::Reporter;
use crate::settings::RunSettings;
use crate::{Doing, FleetError, GameFile, GameFileHeader, Link, MOST_BYTES, WorkerEvent};
use jarmo_core::net::{AgentFile, GameVersion};
use jarmo_exact::catalog::{CatalogGame, GameTask};
use jarmo_host::program::this_program;
use jarmo_learn::config::Config;
use jarmo_learn::run::{BoxedEvaluator, evaluators};
use jarmo_learn::train::OpenDevice;
use jarmo_selfplay::selfplay::{Episode, SelfPlay, SelfPlaySettings};

/// A file is sent when it has this many samples,
const FILE_SAMPLES: usize = 4096;

/// or this many bytes before compression, so that it stays below the limit of a message,
const PLAIN_BYTES: usize = MOST_BYTES - 100_000;

/// or when it is this old and not empty, so that a slow worker's games do not get too old.
const FILE_AGE: Duration = Duration::from_secs(20);

/// Plays for a run until it is replaced, its settings change, or `stop` is set.
pub(super) struct SessionTask<'a, T> {
    pub(super) link: &'a Link,
    pub(super) wanted: Option<&'a str>,
    pub(super) settings: &'a RunSettings,
    pub(super) config: &'a Config,
    pub(super) identity: &'a Identity,
    pub(super) threads: usize,
    pub(super) device: &'a OpenDevice,
    pub(super) reporter: Arc<Reporter>,
    pub(super) stop: &'a AtomicBool,
    pub(super) tell: &'a mut T,
    /// Called between two rounds of self-play, and while a file waits for room.
    pub(super) between: &'a mut dyn FnMut(&mut T),
}

impl<T: FnMut(WorkerEvent)> GameTask for SessionTask<'_, T> {
    type Output = Result<(), FleetError>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), FleetError> {
        let origin = GameVersion::of(&game);
        let check = self.settings.game.check(&origin);
        check.map_err(|problem| FleetError::new(format!("the run's network: {problem}")))?;
        let run = &self.settings.run;
        let news = News::default();
        thread::scope(|scope| {
            let lookout = Lookout {
                link: self.link,
                wanted: self.wanted,
                settings: self.settings,
                reporter: &self.reporter,
                news: &news,
                known: None,
            };
            scope.spawn(move || lookout.run());
            let outbox = Outbox::start(self.link.clone(), run, Arc::clone(&self.reporter));
            let played = Session {
                link: self.link,
                origin,
                run,
                news: &news,
                file: Pending::default(),
                unsent: 0,
                worker: &self.identity.name,
                reporter: &self.reporter,
                stop: self.stop,
                tell: self.tell,
                between: self.between,
            }
            .play(
                game,
                self.config,
                self.identity.seed(self.config.run.seed),
                self.threads,
                self.device,
                outbox,
            );
            news.is_over.store(true, Ordering::Relaxed);
            played
        })
    }
}

struct Session<'a, T> {
    link: &'a Link,
    origin: GameVersion,
    run: &'a str,
    news: &'a News,
    file: Pending,
    unsent: usize, // files that were given up
    worker: &'a str,
    reporter: &'a Reporter,
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
            if let Some(agent) = self.news.take() {
                step = agent.header().provenance.step;
                play.replace_evaluators(make(&agent));
                play.keep_episodes(step);
                self.network(step);
            }
            let round = pool.install(|| play.round());
            self.reporter.played(&round.counts);
            self.file.add(round.episodes);
            if self.file.is_full() {
                self.send(&outbox);
            }
            self.reporter.events(&mut *self.tell);
            (self.between)(&mut *self.tell);
        }
        self.reporter.doing(Doing::Stopping);
        (self.tell)(WorkerEvent::Doing(Doing::Stopping));
        if !self.file.games.is_empty() {
            self.send(&outbox);
        }
        let unsent = self.unsent + outbox.finish();
        self.reporter.events(&mut *self.tell);
        self.link.check_admission()?;
        if unsent > 0 {
            let lost = FleetError::new(format!(
                "{unsent} file(s) of games could not be sent within {} s and are lost: the queue is full, or the server \
                 is away",
                FAREWELL.as_secs()
            ));
            if self.stop.load(Ordering::Relaxed) {
                return Err(lost);
            }
            (self.tell)(WorkerEvent::Warning(lost.to_string())); // another run has begun
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.news.is_over.load(Ordering::Relaxed)
    }

    /// Waits for a network. `None` if the session is over before.
    fn first_network(&mut self) -> Option<AgentFile> {
        loop {
            if let Some(agent) = self.news.take() {
                return Some(agent);
            }
            if self.is_over() {
                return None;
            }
            self.reporter.doing(Doing::WaitingForLearner);
            (self.between)(&mut *self.tell);
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn network(&mut self, step: u64) {
        self.reporter.network(self.run, step);
        (self.tell)(WorkerEvent::Network(step));
    }

    /// Hands the file over. While there is no room for it, the worker waits; for a limited time, if it is to stop.
    fn send(&mut self, outbox: &Outbox) {
        let header = GameFileHeader {
            run: self.run.to_owned(),
            origin: self.origin.clone(),
            worker: self.worker.to_owned(),
            program: this_program(),
        };
        let samples = self.file.samples;
        let games = std::mem::take(&mut self.file).games;
        let bytes = GameFile { header, games }.to_bytes();
        let mut file = Some(OutgoingFile { bytes, samples });
        while let Some(waiting) = file.take() {
            file = outbox.offer(waiting);
            if file.is_some() {
                if self.is_over() {
                    outbox.hurry();
                    if outbox.is_late() {
                        self.unsent += 1;
                        return;
                    }
                } else {
                    (self.between)(&mut *self.tell); // matches do not wait for a learner
                }
                self.reporter.events(&mut *self.tell);
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// Finished games that are in no file yet.
struct Pending {
    games: Vec<Episode>,
    samples: usize,
    bytes: usize,
    since: Instant,
}

impl Default for Pending {
    fn default() -> Pending {
        Pending {
            games: Vec::new(),
            samples: 0,
            bytes: 0,
            since: Instant::now(),
        }
    }
}

impl Pending {
    fn add(&mut self, games: Vec<Episode>) {
        let search = |policy: &[f32]| 4 * policy.len() + 14; // with expectation and length
        for game in &games {
            self.samples += game.searches.len();
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
