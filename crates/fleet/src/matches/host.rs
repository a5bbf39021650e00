//! The arena's side: hands out blocks of pairs, and adds the games that come back.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::{Message, Subscriber};
use futures_util::StreamExt;

use super::task::{Answer, SharedAgent, Task, Verdict, pack, unpack};
use crate::networks::write_object;
use crate::places::{ArenaPlaces, pairs_subject, results_subject};
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

/// The pause after a failure of the server.
const PAUSE: Duration = Duration::from_millis(500);

/// After this time without an answer, something may be wrong.
const QUIET: Duration = Duration::from_secs(30);

/// The time between two looks whether the server still has what was sent.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Blocks that workers took are sent again after this time without an answer, or after a multiple of the longest time
/// between two answers. Each time it is twice as long.
const DEADLINE: Duration = Duration::from_secs(120);
const SLOWEST: u32 = 4;

/// After so many refused answers of one key, its other answers are refused unread.
const MOST_REFUSED: u32 = 10;

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
    let places = link.wait(ArenaPlaces::open(link.context()))?;
    let answers = link.client().subscribe(results_subject(&name, "*"));
    let mut host = Host {
        answers: link.wait(answers)?,
        link,
        places,
        origin: GameVersion::of(game),
        board: board.map_err(FleetError::new)?,
        quiet_limit: settings.rules.quiet_limit,
        agents,
        name,
        waiting: (0..blocks.len()).collect(),
        blocks,
        out: BTreeMap::new(),
        sent: 0,
        refused: BTreeMap::new(),
        heard: Instant::now(),
        is_quiet: false,
        looked: Instant::now(),
        is_missed: false,
        deadline: DEADLINE,
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
    answers: Subscriber,
    origin: GameVersion,
    board: Option<String>,
    quiet_limit: Option<u32>,
    agents: Vec<SharedAgent>,
    name: String, // of the tournament
    blocks: Vec<PairBlock>,
    waiting: VecDeque<usize>,       // blocks to be sent
    out: BTreeMap<String, usize>, // blocks that were sent and are unanswered, by the names of their tasks
    sent: u64,                    // tasks that were given a name
    refused: BTreeMap<String, u32>, // answers, by key
    heard: Instant,               // the last answer
    is_quiet: bool,               // that there is none was said
    looked: Instant,
    is_missed: bool, // at the last look the server had no task, although some are unanswered
    deadline: Duration,
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
        self.write_agents()?;
        while !tournament.is_over() && !stop.load(Ordering::Relaxed) {
            if let Err(error) = self.send() {
                self.warn(format!("{error}; trying again"));
                thread::sleep(PAUSE);
                // The server may have lost its streams, for example with its disk.
                let places = ArenaPlaces::open(self.link.context());
                if let Ok(places) = self.link.wait(places) {
                    self.places = places;
                    let _ = self.write_agents(); // or the next attempt does
                }
            }
            match self.next_answer() {
                Some(message) => self.take(&message, tournament, observer)?,
                None => {
                    self.look_for_lost_tasks();
                    self.say_if_quiet();
                }
            }
            observer.standings(tournament.standings());
        }
        Ok(())
    }

    fn write_agents(&self) -> Result<(), FleetError> {
        let files = self.agents.iter().filter_map(|agent| agent.file.as_ref());
        for file in files {
            write_object(self.link, &self.places.agents, &file.name, &file.bytes)?;
        }
        Ok(())
    }

    fn next_answer(&mut self) -> Option<Message> {
        let next = async { Ok::<_, FleetError>(self.answers.next().await) };
        self.link.wait_for(PATIENCE, next).ok().flatten()
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
            && let Some(&number) = self.waiting.front()
        {
            let id = format!("{}-{}", self.name, self.sent);
            let block = &self.blocks[number];
            let task = Task {
                id: id.clone(),
                tournament: self.name.clone(),
                origin: self.origin.clone(),
                board: self.board.clone(),
                quiet_limit: self.quiet_limit,
                agents: block.agents.map(|agent| self.agents[agent].spec.clone()),
                block: block.clone(),
            };
            self.link
                .publish(&pairs_subject(&self.name), &id, pack(&task)?)?;
            // After a failure the same name is sent again, and the server recognises it.
            self.sent += 1;
            self.waiting.pop_front();
            self.out.insert(id, number);
        }
        Ok(())
    }

    /// Adds the games of an answer, then says so to the worker. Games that cannot be those of their task are played again.
    fn take<G: CatalogGame>(
        &mut self,
        message: &Message,
        tournament: &mut Tournament<'_, G>,
        observer: &mut dyn Observer,
    ) -> Result<(), FleetError> {
        let key = message.subject.rsplit('.').next().unwrap_or_default();
        let is_rogue = self
            .refused
            .get(key)
            .is_some_and(|&count| count >= MOST_REFUSED);
        let verdict = match is_rogue {
            true => Verdict::Refused("this key has sent too many refused answers".to_owned()),
            false => match unpack::<Answer>(&message.payload) {
                Err(error) => Verdict::Refused(error.to_string()),
                Ok(answer) => self.add(&answer, tournament, observer)?,
            },
        };
        if let (Verdict::Refused(problem), false) = (&verdict, is_rogue) {
            *self.refused.entry(key.to_owned()).or_default() += 1;
            self.warn(format!("games of {key} are refused: {problem}"));
        }
        if let Some(reply) = message.reply.clone() {
            // A worker that does not hear it sends its answer again, which is then known.
            let said = self.link.client().publish(reply, pack(&verdict)?.into());
            let _ = self.link.wait(said);
        }
        Ok(())
    }

    fn add<G: CatalogGame>(
        &mut self,
        answer: &Answer,
        tournament: &mut Tournament<'_, G>,
        observer: &mut dyn Observer,
    ) -> Result<Verdict, FleetError> {
        let Some(number) = self.out.remove(&answer.task) else {
            return Ok(Verdict::Taken); // it came before, or comes from a stranger
        };
        match tournament.add_block(&self.blocks[number], &answer.games, observer) {
            Ok(()) => {
                self.deadline = self.deadline.max(SLOWEST * self.heard.elapsed());
                self.heard = Instant::now();
                self.is_quiet = false;
                self.warned = None;
                self.out.retain(|_, other| *other != number);
                self.waiting.retain(|other| *other != number);
                Ok(Verdict::Taken)
            }
            Err(BlockError::Failed(error)) => Err(FleetError::new(error)),
            Err(BlockError::Refused(problem)) => {
                self.waiting.push_front(number);
                Ok(Verdict::Refused(problem.to_string()))
            }
        }
    }

    /// Sends tasks again that the server has lost, or that workers took and do not answer. A task leaves the server after
    /// its games have arrived here, so two looks without tasks and without an answer in between say that games were lost.
    fn look_for_lost_tasks(&mut self) {
        if self.looked.elapsed() < LOOK_EVERY || self.out.is_empty() {
            return;
        }
        let since = self.looked;
        self.looked = Instant::now();
        let subject = pairs_subject(&self.name);
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
        let is_missed = tasks.is_none();
        let is_late = self.heard.elapsed() > self.deadline;
        if (is_missed && self.is_missed && self.heard < since) || is_late {
            let mut again: BTreeSet<usize> = self.out.values().copied().collect();
            if is_missed {
                self.out.clear();
            } else {
                // Slow workers may still answer. The first answer counts.
                self.deadline *= 2;
                again.retain(|number| !self.waiting.contains(number));
            }
            self.warn(format!(
                "{} blocks are lost or late and are sent again",
                again.len()
            ));
            self.waiting.extend(again);
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
        let (pairs, subject) = (&self.places.pairs, pairs_subject(&self.name));
        let _ = self
            .link
            .wait(async { pairs.purge().filter(subject).await });
    }
}
