//! Plays for one run with one set of settings, and watches the server meanwhile.

use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;

use super::matches::Matches;
use super::{AGAIN, Worker};
use crate::game_file::FILE_SAMPLES;
use crate::link::ANSWER;
use crate::places::{RUNS, network_of, newest, read_object, samples_subject};
use crate::settings::RunSettings;
use crate::{Doing, FleetError, GameFile, MOST_BYTES, Orders, WorkerEvent, lock};
use jarmo_core::net::{AgentFile, KernelKind};
use jarmo_core::random::stream;
use jarmo_facade::AnyGame;
use jarmo_facade::selfplay::AnySelfPlay;
use jarmo_host::program::this_program;
use jarmo_learn::config::Config;
use jarmo_learn::device::playing;
use jarmo_selfplay::selfplay::{Episode, SelfPlaySettings};
use rand::Rng;

// A file is sent when it has `FILE_SAMPLES` or one of these.
const PLAIN_BYTES: usize = MOST_BYTES - 100_000; // before compression, so that it stays below the limit of a message
const FILE_AGE: Duration = Duration::from_secs(20); // so that a slow worker's games do not get too old
const FAREWELL: Duration = Duration::from_secs(20); // for sending what is left when the run is over or the worker stops

const PATIENCE: Duration = Duration::from_millis(100); // for a message
const LOOK_EVERY: Duration = Duration::from_secs(30); // because a message can get lost
const LOOK_AGAIN: Duration = Duration::from_secs(1); // after a look that failed

/// The bytes of a file of games, and its samples.
type Packed = (Vec<u8>, usize);

/// Plays for a run until it is replaced, its settings change, or the worker is to stop.
pub(super) struct Session<'a, 'm> {
    pub(super) worker: Worker<'a>,
    pub(super) matches: &'m mut Matches<'a>, // between rounds of self-play, and while a file waits for room
    pub(super) run: &'m RunSettings,
    pub(super) config: &'m Config,
}

impl Session<'_, '_> {
    /// Plays until it is over.
    pub(super) fn run(mut self, game: &dyn AnyGame) -> Result<(), FleetError> {
        let check = self.run.game.check(&game.facts().version);
        check.map_err(|problem| FleetError::new(format!("the run's network: {problem}")))?;
        let (worker, run) = (self.worker, &self.run.run);
        let lookout = Lookout { worker, run: self.run, network: Mutex::default(), over: OnceLock::new() };
        thread::scope(|scope| {
            scope.spawn(|| lookout.run());
            let (outbox, files) = mpsc::sync_channel::<Packed>(0);
            let unsent = scope.spawn(|| files.into_iter().filter(|file| !send(worker, &lookout, run, file)).count());
            let played = {
                let _ends = EndsWithPlay(&lookout);
                self.play(game, &lookout, outbox)
            };
            played?;
            let unsent = unsent.join().expect("sending does not panic");
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

    /// Plays, and hands over the last file before the outbox is closed.
    fn play(
        &mut self,
        game: &dyn AnyGame,
        lookout: &Lookout<'_>,
        outbox: SyncSender<Packed>,
    ) -> Result<(), FleetError> {
        let Session { worker, config, .. } = *self;
        let Worker { threads, reporter, .. } = worker;
        let settings = SelfPlaySettings { games: config.fleet.games * threads, ..config.selfplay };
        reporter.tell(WorkerEvent::Playing(format!(
            "{}, {}, {} games in parallel, {} simulations",
            config.game.name,
            config.net.of(game),
            settings.games,
            settings.simulations
        )));
        reporter.doing(Doing::WaitingForLearner);
        let kernel = config.run.kernel.unwrap_or_else(KernelKind::best);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(FleetError::new)?;
        let seed = stream(config.run.seed, worker.id).next_u64();
        let mut player: Option<Box<dyn AnySelfPlay>> = None;
        let mut file = Pending::default();
        while !lookout.is_over() {
            let newer = lock(&lookout.network).take();
            if let Some(agent) = newer {
                let step = agent.header().provenance.step;
                let agent = game.fit(agent);
                let agent = agent.map_err(|error| FleetError::new(format!("the run's network: {error}")))?;
                let net = playing(agent.weights(), &worker.settings.device, kernel).into();
                let play = match &mut player {
                    None => player.insert(game.self_play(&settings, &net, threads, seed)),
                    Some(play) => {
                        play.use_network(&net);
                        play
                    }
                };
                play.keep_episodes(step);
                reporter.network(&self.run.run, step);
            }
            if let Some(play) = &mut player {
                let round = pool.install(|| play.round());
                reporter.played(&round.counts);
                for full in file.add(round.episodes) {
                    self.send(full, lookout, &outbox);
                }
            } else {
                thread::sleep(Duration::from_millis(50));
            }
            self.matches.play_waiting();
        }
        if player.is_some() {
            reporter.doing(Doing::Stopping);
        }
        if !file.games.is_empty() {
            self.send(file, lookout, &outbox);
        }
        Ok(())
    }

    /// Hands a file over. While the one before is being sent, the worker plays matches, which do not wait for a learner.
    fn send(&mut self, file: Pending, lookout: &Lookout<'_>, outbox: &SyncSender<Packed>) {
        let content = GameFile {
            run: self.run.run.clone(),
            origin: self.run.game.clone(),
            worker: self.worker.name.to_owned(),
            program: this_program(),
            games: file.games,
        };
        let mut packed = (content.to_bytes(), file.samples);
        while let Err(TrySendError::Full(back)) = outbox.try_send(packed) {
            packed = back;
            if !lookout.is_over() {
                self.matches.play_waiting();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Sends a file until the server has acknowledged it, under its name, so that the server recognises a repeated file.
/// Returns whether the server has it.
fn send(worker: Worker<'_>, lookout: &Lookout<'_>, run: &str, (bytes, samples): &Packed) -> bool {
    let Worker { link, reporter, .. } = worker;
    let (id, subject) = (GameFile::id(bytes), samples_subject(run, &link.user));
    loop {
        let left = FAREWELL.saturating_sub(lookout.since_over());
        if left.is_zero() || link.check_admission().is_err() {
            return false;
        }
        match link.publish(&subject, &id.to_string(), bytes.clone(), left.min(ANSWER)) {
            Ok(()) => break,
            Err(problem) => reporter.cannot_send(&problem),
        }
        thread::sleep(AGAIN);
    }
    reporter.tell(WorkerEvent::Sent { id, samples: *samples, bytes: bytes.len() });
    true
}

/// Finished games that are not yet in a file.
#[derive(Default)]
struct Pending {
    games: Vec<Episode>,
    samples: usize,
    bytes: usize,
    since: Option<Instant>,
}

impl Pending {
    /// Adds the games of a round. Returns the files that are full with them; many parallel games fill several at once.
    fn add(&mut self, games: Vec<Episode>) -> Vec<Pending> {
        let mut full = Vec::new();
        for game in games {
            self.put(game);
            if self.is_full() {
                full.push(std::mem::take(self));
            }
        }
        if self.is_full() {
            full.push(std::mem::take(self)); // it is old
        }
        full
    }

    fn put(&mut self, game: Episode) {
        let search = |policy: &[f32]| 4 * policy.len() + 16; // with expectation and length
        self.samples += game.searches.len();
        let searches = game.searches.iter().map(|found| search(&found.policy));
        let actions = 4 * game.game.actions.len();
        let start = game.game.start.as_ref().map_or(0, String::len);
        self.bytes += searches.sum::<usize>() + actions + start + 80;
        self.since.get_or_insert_with(Instant::now);
        self.games.push(game);
    }

    fn is_full(&self) -> bool {
        let is_old = self.since.is_some_and(|since| since.elapsed() >= FILE_AGE);
        is_old || self.samples >= FILE_SAMPLES || self.bytes >= PLAIN_BYTES
    }
}

/// Looks for newer networks, another run, other settings and orders, and hands what it finds to the playing thread.
struct Lookout<'a> {
    worker: Worker<'a>,
    run: &'a RunSettings,
    network: Mutex<Option<AgentFile>>, // newer than the last one
    over: OnceLock<Instant>,           // since then there is nothing more to play
}

/// Ends the lookout when play ends, even by a panic, which the scope of its thread would otherwise wait for.
struct EndsWithPlay<'a, 'b>(&'a Lookout<'b>);

impl Drop for EndsWithPlay<'_, '_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Lookout<'_> {
    /// There is another run, its settings changed, or the worker is to stop.
    fn end(&self) {
        self.over.get_or_init(Instant::now);
    }

    fn is_over(&self) -> bool {
        if self.worker.is_to_stop() {
            self.end();
        }
        self.over.get().is_some()
    }

    /// How long ago that was.
    fn since_over(&self) -> Duration {
        self.over.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Works until the session is over. A plain subscription, which needs no consumer, receives what the learner writes
    /// into the bucket.
    fn run(&self) {
        let link = self.worker.link;
        let network = format!("$KV.{RUNS}.{}", network_of(&self.run.run));
        let Ok(mut heard) = link.wait(link.client.subscribe(format!("$KV.{RUNS}.>"))) else {
            return self.end(); // the key is refused
        };
        let (mut look, mut known) = (Instant::now(), None);
        while !self.is_over() {
            if link.check_admission().is_err() {
                return self.end();
            }
            if !link.is_connected() {
                look = Instant::now() + LOOK_AGAIN; // what is said meanwhile is not heard
            }
            if Instant::now() >= look {
                let looked = self.look(&mut known);
                look = Instant::now() + if looked.is_ok() { LOOK_EVERY } else { LOOK_AGAIN };
                if let Err(error) = looked {
                    self.worker.reporter.warn(format!("the newest network: {error}"));
                }
            }
            if let Some(message) = link.next(&mut heard, PATIENCE)
                && (*message.subject == *network || !message.subject.ends_with(".network"))
            {
                look = Instant::now();
            }
        }
    }

    /// Looks at all that messages tell. Reads the newest network, unless it is the one that is known by its steps.
    fn look(&self, known: &mut Option<u64>) -> Result<(), FleetError> {
        let Lookout { worker: Worker { link, .. }, run, .. } = self;
        let (orders, settings) = self.worker.find_run()?;
        // A server that has lost the settings gets them again from the learner, and so does one with unreadable ones.
        let is_for_another = |settings: Vec<u8>| match self.worker.read_settings(&settings) {
            Ok(settings) => settings.is_some_and(|settings| settings != **run),
            Err(_) => true,
        };
        if orders.is_some_and(|orders| orders != Orders::Play) || settings.is_some_and(is_for_another) {
            self.end();
        } else if let Some(newest) = newest(link, &run.run)?
            && *known != Some(newest.step)
        {
            let agent = AgentFile::from_bytes(&read_object(link, &newest.parcel)?).map_err(FleetError::new)?;
            *lock(&self.network) = Some(agent);
            *known = Some(newest.step);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jarmo_core::env::SavedGame;
    use jarmo_core::games::ConnectFour;
    use jarmo_core::net::GameVersion;
    use jarmo_selfplay::selfplay::Searched;

    fn game(length: usize) -> Episode {
        let search = Searched { policy: vec![0.125; 7], expected: [0.5, 0.25, 0.25] };
        Episode {
            game: SavedGame { start: None, actions: vec![3; length] },
            searches: vec![search; length],
            weights: 0,
        }
    }

    #[test]
    fn however_many_games_end_in_a_round_no_file_exceeds_what_the_server_takes() {
        let (mut file, mut samples) = (Pending::default(), 0);
        for games in [1, 16_000, 0, 200, 3] {
            for full in file.add(vec![game(12); games]) {
                samples += full.samples;
                assert!(full.is_full() && full.samples < FILE_SAMPLES + 12, "{} samples", full.samples);
                assert!(full.bytes < PLAIN_BYTES + 1000);
                let text = String::new();
                let origin = GameVersion::of(&ConnectFour::new(0));
                let content =
                    GameFile { run: text.clone(), origin, worker: text.clone(), program: text, games: full.games };
                assert!(content.to_bytes().len() < MOST_BYTES);
            }
            assert!(!file.is_full());
        }
        assert_eq!(samples + file.samples, 12 * 16_204);
        file.since = Instant::now().checked_sub(FILE_AGE);
        assert_eq!(file.add(Vec::new()).len(), 1, "an old file is sent, although no game has ended");
        assert!(file.games.is_empty() && file.add(Vec::new()).is_empty());
    }
}
