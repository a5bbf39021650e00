//! Playing for one run, with one set of settings.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;

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
pub(super) struct Session<'a> {
    pub(super) link: &'a Link,
    pub(super) wanted: Option<&'a str>,
    pub(super) settings: &'a RunSettings,
    pub(super) config: &'a Config,
    pub(super) worker: &'a str,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) device: &'a OpenDevice,
    pub(super) reporter: &'a Reporter,
    pub(super) stop: &'a AtomicBool,
    /// Called between two rounds of self-play, and while a file waits for room.
    pub(super) between: &'a mut dyn FnMut(),
}

impl GameTask for Session<'_> {
    type Output = Result<(), FleetError>;

    fn run<G: CatalogGame>(mut self, game: G) -> Result<(), FleetError> {
        let origin = GameVersion::of(&game);
        let check = self.settings.game.check(&origin);
        check.map_err(|problem| FleetError::new(format!("the run's network: {problem}")))?;
        let (news, deadline) = (News::default(), OnceLock::new());
        thread::scope(|scope| {
            let lookout = Lookout {
                link: self.link,
                wanted: self.wanted,
                settings: self.settings,
                reporter: self.reporter,
                news: &news,
                known: None,
            };
            scope.spawn(|| lookout.run());
            let run = &self.settings.run;
            let outbox = Outbox::start(scope, self.link, run, self.reporter, &deadline);
            let played = self.play(&game, &origin, &news, outbox);
            news.is_over.store(true, Ordering::Relaxed);
            played
        })
    }
}

impl Session<'_> {
    fn play<G: CatalogGame>(
        &mut self,
        game: &G,
        origin: &GameVersion,
        news: &News,
        outbox: Outbox<'_>,
    ) -> Result<(), FleetError> {
        let Session {
            config,
            threads,
            reporter,
            ..
        } = *self;
        let settings = SelfPlaySettings {
            games: config.fleet.games * threads,
            ..config.selfplay
        };
        reporter.tell(WorkerEvent::Playing(format!(
            "{}, {}, {} games in parallel, {} simulations",
            config.game.name,
            config.net_kind(),
            settings.games,
            settings.simulations
        )));
        let Some(agent) = self.first_network(news) else {
            outbox.finish();
            return Ok(());
        };
        let on = (self.device, config.run.kernel.here());
        let make = |agent: &AgentFile| -> Vec<BoxedEvaluator<G>> {
            evaluators(game, agent.weights(), on, threads)
        };
        let fits = agent.clone().for_game(game);
        fits.map_err(|error| FleetError::new(format!("the run's network: {error}")))?;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(FleetError::new)?;
        let mut play = SelfPlay::new(game, &settings, make(&agent), self.seed);
        let step = agent.header().provenance.step;
        play.keep_episodes(step);
        reporter.network(&self.settings.run, step);
        let (mut file, mut unsent) = (Pending::default(), 0);
        while !self.is_over(news) {
            if let Some(agent) = news.take() {
                let step = agent.header().provenance.step;
                play.replace_evaluators(make(&agent));
                play.keep_episodes(step);
                reporter.network(&self.settings.run, step);
            }
            let round = pool.install(|| play.round());
            reporter.played(&round.counts);
            file.add(round.episodes);
            if file.is_full() {
                unsent += self.send(&mut file, origin, news, &outbox);
            }
            (self.between)();
        }
        reporter.doing(Doing::Stopping);
        if !file.games.is_empty() {
            unsent += self.send(&mut file, origin, news, &outbox);
        }
        unsent += outbox.finish();
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
            reporter.warn(lost.to_string()); // another run has begun
        }
        Ok(())
    }

    fn is_over(&self, news: &News) -> bool {
        self.stop.load(Ordering::Relaxed) || news.is_over.load(Ordering::Relaxed)
    }

    /// Waits for a network. `None` if the session is over before.
    fn first_network(&mut self, news: &News) -> Option<AgentFile> {
        self.reporter.doing(Doing::WaitingForLearner);
        while !self.is_over(news) {
            if let Some(agent) = news.take() {
                return Some(agent);
            }
            (self.between)();
            thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// Hands a file over. While there is no room for it, the worker waits; for a limited time, if it is to stop. Returns
    /// the number of files that were given up.
    fn send(
        &mut self,
        file: &mut Pending,
        origin: &GameVersion,
        news: &News,
        outbox: &Outbox<'_>,
    ) -> usize {
        let header = GameFileHeader {
            run: self.settings.run.clone(),
            origin: origin.clone(),
            worker: self.worker.to_owned(),
            program: this_program(),
        };
        let Pending { games, samples, .. } = std::mem::take(file);
        let bytes = GameFile { header, games }.to_bytes();
        let mut file = OutgoingFile { bytes, samples };
        while let Some(waiting) = outbox.offer(file) {
            file = waiting;
            if !self.is_over(news) {
                (self.between)(); // matches do not wait for a learner
            } else {
                outbox.hurry();
                if outbox.is_late() {
                    return 1;
                }
            }
            thread::sleep(Duration::from_millis(50));
        }
        0
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
