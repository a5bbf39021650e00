//! Playing for one run, with one set of settings.

use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;

use super::lookout::{Lookout, News};
use super::outbox::{FAREWELL, Packed, send_all};
use crate::matches::Matches;
use crate::reporter::Worker;
use crate::settings::RunSettings;
use crate::{Doing, FleetError, GameFile, GameFileHeader, MOST_BYTES, WorkerEvent};
use jarmo_core::net::{AgentFile, GameVersion};
use jarmo_core::random::stream;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
use jarmo_host::program::this_program;
use jarmo_learn::config::Config;
use jarmo_learn::run::{BoxedEvaluator, evaluators};
use jarmo_selfplay::selfplay::{Episode, SelfPlay, SelfPlaySettings};
use rand::Rng;

/// A file is sent when it has this many samples,
const FILE_SAMPLES: usize = 4096;

/// or this many bytes before compression, so that it stays below the limit of a message,
const PLAIN_BYTES: usize = MOST_BYTES - 100_000;

/// or when it is this old and not empty, so that a slow worker's games do not get too old.
const FILE_AGE: Duration = Duration::from_secs(20);

/// Plays for a run until it is replaced, its settings change, or the worker is to stop.
pub(super) struct Session<'a, 'm, C> {
    pub(super) worker: Worker<'a>,
    /// Played between two rounds of self-play, and while a file waits for room.
    pub(super) matches: &'m mut Matches<'a, C>,
    pub(super) run: &'m RunSettings,
    pub(super) config: &'m Config,
}

impl<C: Catalog> GameTask for Session<'_, '_, C> {
    type Output = Result<(), FleetError>;

    fn run<G: CatalogGame>(mut self, game: G) -> Result<(), FleetError> {
        let check = self.run.game.check(&GameVersion::of(&game));
        check.map_err(|problem| FleetError::new(format!("the run's network: {problem}")))?;
        let (worker, run, news) = (self.worker, self.run, News::default());
        thread::scope(|scope| {
            let lookout = Lookout { worker, run, news: &news, known: None };
            scope.spawn(|| lookout.run());
            let (outbox, files) = mpsc::sync_channel(0);
            let sending = scope.spawn(|| send_all(worker, &news, &run.run, files));
            let played = self.play(&game, &news, outbox);
            news.end();
            played?;
            let unsent = sending.join().expect("the outbox does not panic");
            worker.link.check_admission()?;
            if unsent > 0 {
                let lost = FleetError::new(format!(
                    "{unsent} file(s) of games could not be sent within {} s and are lost: the queue is full, or the \
                     server is away",
                    FAREWELL.as_secs()
                ));
                if worker.is_to_stop() {
                    return Err(lost);
                }
                worker.reporter.warn(lost.to_string()); // another run has begun
            }
            Ok(())
        })
    }
}

impl<C: Catalog> Session<'_, '_, C> {
    /// Plays until it is over. The last file is handed over before the outbox is closed.
    fn play<G: CatalogGame>(&mut self, game: &G, news: &News, outbox: SyncSender<Packed>) -> Result<(), FleetError> {
        let Session { worker, config, .. } = *self;
        let Worker { threads, reporter, .. } = worker;
        let settings = SelfPlaySettings { games: config.fleet.games * threads, ..config.selfplay };
        reporter.tell(WorkerEvent::Playing(format!(
            "{}, {}, {} games in parallel, {} simulations",
            config.game.name,
            config.net_kind(),
            settings.games,
            settings.simulations
        )));
        let Some(agent) = self.first_network(news) else {
            return Ok(());
        };
        let on = (worker.device, config.run.kernel.here());
        let make = |agent: &AgentFile| -> Vec<BoxedEvaluator<G>> { evaluators(game, agent.weights(), on, threads) };
        let fits = agent.clone().for_game(game);
        fits.map_err(|error| FleetError::new(format!("the run's network: {error}")))?;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(FleetError::new)?;
        let seed = stream(config.run.seed, worker.id).next_u64();
        let mut play = SelfPlay::new(game, &settings, make(&agent), seed);
        let step = agent.header().provenance.step;
        play.keep_episodes(step);
        reporter.network(&self.run.run, step);
        let mut file = Pending::default();
        while !self.is_over(news) {
            if let Some(agent) = news.take() {
                let step = agent.header().provenance.step;
                play.replace_evaluators(make(&agent));
                play.keep_episodes(step);
                reporter.network(&self.run.run, step);
            }
            let round = pool.install(|| play.round());
            reporter.played(&round.counts);
            file.add(round.episodes);
            if file.is_full() {
                self.send(std::mem::take(&mut file), news, &outbox);
            }
            self.matches.play_waiting();
        }
        reporter.doing(Doing::Stopping);
        if !file.games.is_empty() {
            self.send(file, news, &outbox);
        }
        Ok(())
    }

    fn is_over(&self, news: &News) -> bool {
        if self.worker.is_to_stop() {
            news.end();
        }
        news.is_over()
    }

    /// Waits for a network. `None` if the session is over before.
    fn first_network(&mut self, news: &News) -> Option<AgentFile> {
        self.worker.reporter.doing(Doing::WaitingForLearner);
        while !self.is_over(news) {
            if let Some(agent) = news.take() {
                return Some(agent);
            }
            self.matches.play_waiting();
            thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// Hands a file over. While the one before is being sent, the worker plays matches, which do not wait for a learner.
    fn send(&mut self, file: Pending, news: &News, outbox: &SyncSender<Packed>) {
        let header = GameFileHeader {
            run: self.run.run.clone(),
            origin: self.run.game.clone(),
            worker: self.worker.name.to_owned(),
            program: this_program(),
        };
        let Pending { games, samples, .. } = file;
        let mut packed = (GameFile { header, games }.to_bytes(), samples);
        while let Err(TrySendError::Full(back)) = outbox.try_send(packed) {
            packed = back;
            if !self.is_over(news) {
                self.matches.play_waiting();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Finished games that are in no file yet.
#[derive(Default)]
struct Pending {
    games: Vec<Episode>,
    samples: usize,
    bytes: usize,
    since: Option<Instant>,
}

impl Pending {
    fn add(&mut self, games: Vec<Episode>) {
        let search = |policy: &[f32]| 4 * policy.len() + 16; // with expectation and length
        for game in &games {
            self.samples += game.searches.len();
            let searches = game.searches.iter().map(|found| search(&found.policy));
            let actions = 4 * game.game.actions().len();
            self.bytes += searches.sum::<usize>() + actions + game.game.start_text().len() + 80;
            self.since.get_or_insert_with(Instant::now);
        }
        self.games.extend(games);
    }

    fn is_full(&self) -> bool {
        let is_old = self.since.is_some_and(|since| since.elapsed() >= FILE_AGE);
        is_old || self.samples >= FILE_SAMPLES || self.bytes >= PLAIN_BYTES
    }
}
