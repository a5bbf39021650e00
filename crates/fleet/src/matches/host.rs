//! The arena's side: hands out blocks of pairs, and adds the games that come back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use futures_util::StreamExt;

use super::task::{Answer, SharedAgent, Task, pack, unpack};
use crate::networks::write_object;
use crate::places::{ArenaPlaces, PAIRS_SUBJECT};
use crate::{FleetError, Link, unique};
use jarmo_core::net::GameVersion;
use jarmo_exact::agent::AgentSpec;
use jarmo_exact::catalog::{CatalogGame, GameSettings};
use jarmo_host::files::{SETTINGS_BYTES, read_text};
use jarmo_judge::arena::{BlockError, Observer, PairBlock, Tournament};

/// The most pairs in a block. A worker that is lost loses at most a block per thread.
const MOST_PAIRS: usize = 8;

/// A tournament has at least this many blocks, if it has as many pairs, so that many workers have something to do.
const LEAST_BLOCKS: usize = 64;

/// The most blocks that are at the server or with workers at a time. An arena that is lost leaves no more behind.
const MOST_OUT: usize = 256;

/// The longest wait for answers at a time.
const PATIENCE: Duration = Duration::from_millis(500);

/// The most answers at a time.
const BATCH: usize = 64;

/// The pause after a failure of the server.
const PAUSE: Duration = Duration::from_millis(500);

/// After this time without an answer, something may be wrong.
const QUIET: Duration = Duration::from_secs(30);

/// The time between two looks whether the server still has what was sent.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// What the games are played with.
pub struct MatchSettings<'a> {
    /// The settings of the rules.
    pub rules: &'a GameSettings,
    /// The agents, in the order of the tournament's entrants.
    pub agents: &'a [AgentSpec],
}

/// Plays the missing games of a tournament on workers, until all are played or `stop` is set. `tell` gets warnings.
/// What it leaves at the server then is deleted.
pub fn play_matches<G: CatalogGame>(
    link: &Link,
    game: &G,
    settings: &MatchSettings<'_>,
    tournament: &mut Tournament<'_, G>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
    tell: impl FnMut(String),
) -> Result<(), FleetError> {
    let board = settings.rules.board.as_deref();
    let board = board
        .map(|path| read_text(path, SETTINGS_BYTES))
        .transpose();
    let agents = settings.agents.iter();
    let agents: Vec<SharedAgent> = agents
        .map(|spec| SharedAgent::new(game, spec))
        .collect::<Result<_, _>>()?;
    let missing = tournament.missing_blocks(1).len();
    let blocks = tournament.missing_blocks((missing / LEAST_BLOCKS).clamp(1, MOST_PAIRS));
    let name = format!("{:016x}", unique());
    let places = link.wait(ArenaPlaces::open(link.context(), &name))?;
    let mut host = Host {
        link,
        places,
        origin: GameVersion::of(game),
        board: board.map_err(FleetError::new)?,
        quiet_limit: settings.rules.quiet_limit,
        agents,
        name,
        waiting: blocks.into(),
        out: BTreeMap::new(),
        sent: 0,
        heard: Instant::now(),
        is_quiet: false,
        looked: Instant::now(),
        is_missed: false,
        warned: None,
        tell,
    };
    let played = host.play(tournament, stop, observer);
    host.clean_up();
    played
}

struct Host<'a, T> {
    link: &'a Link,
    places: ArenaPlaces,
    origin: GameVersion,
    board: Option<String>,
    quiet_limit: Option<u32>,
    agents: Vec<SharedAgent>,
    name: String,                     // of the tournament
    waiting: VecDeque<PairBlock>,     // to be sent
    out: BTreeMap<String, PairBlock>, // sent and unanswered, by the task's name
    sent: u64,                        // tasks that were given a name
    heard: Instant,                   // the last answer
    is_quiet: bool,                   // that there is none was said
    looked: Instant,
    is_missed: bool, // at the last look the server had no task, although some are unanswered
    warned: Option<String>,
    tell: T,
}

impl<T: FnMut(String)> Host<'_, T> {
    fn play<G: CatalogGame>(
        &mut self,
        tournament: &mut Tournament<'_, G>,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<(), FleetError> {
        for agent in &self.agents {
            if let Some(file) = &agent.file {
                write_object(self.link, &self.places.agents, &file.name, &file.bytes)?;
            }
        }
        while !tournament.is_over() && !stop.load(Ordering::Relaxed) {
            let sent = self.send();
            let fetched =
                sent.and_then(|()| self.link.fetch(&self.places.answers, BATCH, PATIENCE));
            match fetched {
                Ok(messages) => {
                    if messages.is_empty() {
                        self.look_for_lost_tasks();
                        self.say_if_quiet();
                    }
                    for message in messages {
                        self.take(&message, tournament, observer)?;
                    }
                    self.warned = None;
                }
                Err(error) => {
                    self.warn(format!("{error}; trying again"));
                    thread::sleep(PAUSE);
                }
            }
            observer.standings(tournament.standings());
        }
        Ok(())
    }

    /// Warns, but not twice in a row of the same.
    fn warn(&mut self, warning: String) {
        if self.warned.as_ref() != Some(&warning) {
            (self.tell)(warning.clone());
            self.warned = Some(warning);
        }
    }

    /// Sends tasks until enough are out.
    fn send(&mut self) -> Result<(), FleetError> {
        while self.out.len() < MOST_OUT
            && let Some(block) = self.waiting.front()
        {
            let id = format!("{}-{}", self.name, self.sent);
            let task = Task {
                id: id.clone(),
                tournament: self.name.clone(),
                origin: self.origin.clone(),
                board: self.board.clone(),
                quiet_limit: self.quiet_limit,
                agents: block.agents.map(|agent| self.agents[agent].spec.clone()),
                block: block.clone(),
            };
            self.link.publish(&self.subject(), &id, pack(&task)?)?;
            // After a failure the same name is sent again, and the server recognises it.
            self.sent += 1;
            let block = self.waiting.pop_front().expect("it was just read");
            self.out.insert(id, block);
        }
        Ok(())
    }

    fn subject(&self) -> String {
        format!("{PAIRS_SUBJECT}.{}", self.name)
    }

    /// Adds the games of an answer, then acknowledges it. Games that cannot be those of their task are played again.
    fn take<G: CatalogGame>(
        &mut self,
        message: &Message,
        tournament: &mut Tournament<'_, G>,
        observer: &mut dyn Observer,
    ) -> Result<(), FleetError> {
        match unpack::<Answer>(&message.payload) {
            Err(error) => self.warn(format!("an answer on {}: {error}", message.subject)),
            Ok(answer) => {
                // An answer to no open task is one that came twice, or comes from a stranger.
                if let Some(block) = self.out.remove(&answer.task) {
                    self.heard = Instant::now();
                    self.is_quiet = false;
                    match tournament.add_block(&block, &answer.games, observer) {
                        Ok(()) => {}
                        Err(BlockError::Failed(error)) => return Err(FleetError::new(error)),
                        Err(BlockError::Refused(problem)) => {
                            self.waiting.push_front(block);
                            self.warn(format!(
                                "the games of {:?} are refused and played again: {problem}",
                                answer.worker
                            ));
                        }
                    }
                }
            }
        }
        // An answer whose acknowledgement is lost comes again, and is then known.
        let _ = self.link.wait(message.ack());
        Ok(())
    }

    /// Sends tasks again that the server has lost. A task leaves the server after its answer has arrived there, so two
    /// looks without tasks and without an answer in between say that answers were lost.
    fn look_for_lost_tasks(&mut self) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        let since = self.looked;
        self.looked = Instant::now();
        let subject = self.subject();
        let tasks = self.link.wait(async {
            let stream = &self.places.pairs;
            let info = stream.info_with_subjects(subject).await;
            let mut info = info.map_err(|error| error.to_string())?;
            let first = info.next().await.transpose();
            first.map_err(|error| error.to_string())
        });
        let Ok(tasks) = tasks else {
            return;
        };
        let is_missed = tasks.is_none() && !self.out.is_empty();
        if is_missed && self.is_missed && self.heard < since {
            let lost = std::mem::take(&mut self.out);
            self.warn(format!("{} tasks were lost and are sent again", lost.len()));
            self.waiting.extend(lost.into_values());
        }
        self.is_missed = is_missed && !self.out.is_empty();
    }

    /// Says once that no games come.
    fn say_if_quiet(&mut self) {
        if !self.is_quiet && self.heard.elapsed() > QUIET {
            self.is_quiet = true;
            let seconds = QUIET.as_secs();
            (self.tell)(format!(
                "no games for {seconds} s; `fleet status` shows whether there are workers"
            ));
        }
    }

    /// Deletes what nobody needs any more. What stays after a failure is deleted by the server later.
    fn clean_up(&self) {
        let (pairs, answers) = (&self.places.pairs, &self.places.results);
        let _ = self
            .link
            .wait(async { pairs.purge().filter(self.subject()).await });
        let _ = self.link.wait(answers.delete_consumer(&self.name));
        let filter = ArenaPlaces::answers_to(&self.name);
        let _ = self
            .link
            .wait(async { answers.purge().filter(filter).await });
    }
}
