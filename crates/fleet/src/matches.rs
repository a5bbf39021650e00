//! Matches on workers: the messages, and the arena's side. The arena hands out blocks of opening pairs, and adds the
//! games that come back.
//!
//! A worker asks the arena for a block of pairs, plays it and answers with the records of its games. The games depend
//! only on the block. If a block is late, the arena therefore gives it to another worker, too, and the first answer
//! counts. A worker that is lost or keeps blocks cannot delay a match.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::object_store::ObjectInfo;
use async_nats::{Message, Subject, Subscriber};
use futures_util::stream::{SelectAll, select_all};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::game_file::{compress, decompress};
use crate::places::{
    LIVES, PROTOCOL, arena_places, blocks_subject, find, life_subject, look_at, results_subject, sender, write_object,
};
use crate::settings::read_said;
use crate::status::{ARENA, REPORT_EVERY};
use crate::{FleetError, GameFile, Link, MOST_BYTES, json, unique};
use jarmo_core::agent::FILE_ENDING;
use jarmo_core::net::{GameVersion, KernelKind};
use jarmo_exact::agent::{AgentSource, AgentSpec};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::AnyGame;
use jarmo_facade::measure::AnyTournament;
use jarmo_host::program::this_program;
use jarmo_host::record::GameRecord;
use jarmo_judge::arena::{Observer, PairBlock};
use jarmo_learn::run::FileId;

const MOST_PAIRS: usize = 8; // in a block; a worker that is lost loses at most a block per thread
const LEAST_BLOCKS: usize = 64; // of a tournament with as many pairs, so that many workers have something to do
const MOST_UNPACKED: usize = 1 << 22; // bytes of a message; the longest games of a block have a tenth of them
const PATIENCE: Duration = Duration::from_millis(200); // for a message
const FAREWELL: Duration = Duration::from_secs(2); // for the last messages at the end
const QUIET: Duration = Duration::from_secs(30); // without an answer: something may be wrong
const MOST_REFUSED: u32 = 10; // answers of a key; then it gets no blocks and its answers are refused unread

/// A block without an answer is given to another key after this time, or after a multiple of the mean time for an
/// answer. The same key waits twice as long each time.
const DEADLINE: Duration = Duration::from_secs(15);
const SLOWEST: u32 = 3;

/// The number of unanswered blocks that a key may have. It grows by three with each answer, so that a key with many
/// workers is not slowed down, while a key that only takes blocks gets few.
const MOST_HELD: u32 = 64;

/// A block of pairs, with all that a worker needs to play it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) number: usize,            // of the block
    pub(super) tournament: String,       // as a part of subjects
    pub(super) origin: GameVersion,      // the game that is played
    pub(super) quiet_limit: Option<u32>, // plies without a capture after which tammi is drawn, if not the default
    pub(super) agents: [NamedAgent; 2],  // of the bout
    pub(super) block: PairBlock,
}

/// An agent in the form that workers get.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NamedAgent {
    pub(super) spec: String,               // an agent file is named by its content
    pub(super) parcel: Option<ObjectInfo>, // the file
}

/// The games of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) number: usize,          // of the block
    pub(super) games: Vec<GameRecord>, // none if the worker could not play them
}

/// The rules and agents of the games.
#[derive(Clone, Debug)]
pub struct MatchSettings {
    /// The settings of the rules.
    pub rules: GameSettings,
    /// The agents, in the order of the tournament's entrants.
    pub agents: Vec<AgentSpec>,
}

/// Plays the missing games of a tournament on workers, until all are played or `stop` is set. `tell` gets warnings.
pub fn play_matches(
    link: &Link,
    game: &dyn AnyGame,
    settings: &MatchSettings,
    tournament: &mut dyn AnyTournament,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
    tell: impl FnMut(String),
) -> Result<(), FleetError> {
    let store = find(link, arena_places(&link.context))?;
    let write = |name: &str, bytes: &[u8]| write_object(link, &store, name, bytes);
    let agents = settings.agents.iter().map(|spec| NamedAgent::new(game, spec, write));
    let agents = agents.collect::<Result<Vec<_>, _>>()?;
    let missing = tournament.missing_blocks(1).len();
    let blocks = tournament.missing_blocks((missing / LEAST_BLOCKS).clamp(1, MOST_PAIRS));
    let name = format!("{:016x}", unique());
    let task = |(number, block): (usize, PairBlock)| Task {
        number,
        tournament: name.clone(),
        origin: game.facts().version.clone(),
        quiet_limit: settings.rules.quiet_limit,
        agents: block.agents.map(|agent| agents[agent].clone()),
        block,
    };
    // Of several arenas one gets the question.
    let asked = link.wait(link.client.queue_subscribe(blocks_subject("*"), ARENA.to_owned()))?;
    let answers = link.wait(link.client.subscribe(results_subject(&name, "*")))?;
    let mut heard = select_all([asked, answers]);
    let mut host = Host {
        tournament,
        observer,
        open: (0..blocks.len()).map(|number| (number, None)).collect(),
        tasks: blocks.into_iter().enumerate().map(task).collect(),
        keys: BTreeMap::new(),
        answered: (Duration::ZERO, 0),
        added: Instant::now(),
        warned: None,
        tell,
    };
    let played = host.play(link, &mut heard, &life_subject(ARENA, &name), stop);
    close(link, &mut heard);
    played
}

/// Answers the messages that workers have already sent, because a worker without an answer would wait instead of
/// playing. Messages that arrive while the connection is closing are lost.
fn close(link: &Link, heard: &mut SelectAll<Subscriber>) {
    for said in heard.iter_mut() {
        let _ = link.wait(said.drain());
    }
    while let Some(message) = link.next(heard, FAREWELL) {
        reply(link, &message, Vec::new());
    }
    let _ = link.wait(link.client.flush());
}

/// The open blocks, and the workers that have them.
struct Host<'a, T> {
    tournament: &'a mut dyn AnyTournament,
    observer: &'a mut dyn Observer,
    tasks: Vec<Task>,                       // all blocks
    open: BTreeMap<usize, Option<Instant>>, // those without an answer, and when they were given to a worker first
    keys: BTreeMap<String, Key>,
    answered: (Duration, u32), // between giving and answer, and answers
    added: Instant,            // the last answer
    warned: Option<String>,    // the last warning, unless an answer came since then
    tell: T,
}

/// What a key has done.
#[derive(Default)]
struct Key {
    held: BTreeMap<usize, Held>, // blocks that it was given and has not answered
    answered: u32,
    refused: u32,
}

/// How often a key was given a block, and when it was given last.
#[derive(Clone, Copy)]
struct Held {
    times: u32,
    at: Instant,
}

impl Key {
    /// When the key was given a block, which it then has once less; `None` if it does not have it.
    fn gives_back(&mut self, number: usize) -> Option<Instant> {
        let held = self.held.get_mut(&number)?;
        held.times -= 1;
        let at = held.at;
        if held.times == 0 {
            self.held.remove(&number);
        }
        Some(at)
    }
}

impl<T: FnMut(String)> Host<'_, T> {
    /// Answers requests for blocks, and takes in games. Also publishes the number of open blocks at the subject `life`,
    /// for `fleet status`.
    fn play(
        &mut self,
        link: &Link,
        heard: &mut SelectAll<Subscriber>,
        life: &str,
        stop: &AtomicBool,
    ) -> Result<(), FleetError> {
        let mut report = Instant::now();
        while !self.tournament.is_over() && !stop.load(Ordering::Relaxed) {
            link.check_admission()?;
            if Instant::now() >= report {
                report = Instant::now() + REPORT_EVERY;
                if look_at(link, LIVES).is_ok_and(|stream| stream.is_none()) {
                    let _ = find(link, arena_places(&link.context)); // the server was started again
                }
                let _ = link.send(life, self.open.len().to_string().into());
            }
            if self.added.elapsed() > QUIET {
                let seconds = QUIET.as_secs();
                self.warn(format!("no games for {seconds} s; `fleet status` shows whether there are workers"));
            }
            if let Some(message) = link.next(heard, PATIENCE) {
                let key = sender(&message);
                if message.subject.starts_with(&blocks_subject("")) {
                    if message.reply.is_some() {
                        reply(link, &message, self.offer(key)?);
                    }
                    continue; // at once, because later requests are dropped if too many wait
                }
                let answer = self.take(key, &message.payload)?;
                reply(link, &message, answer.into_bytes());
            }
            self.observer.standings(self.tournament.standings());
        }
        Ok(())
    }

    /// Warns, but not twice in a row with the same text.
    fn warn(&mut self, warning: String) {
        if self.warned.as_ref() != Some(&warning) {
            (self.tell)(warning.clone());
            self.warned = Some(warning);
        }
    }

    fn key(&mut self, key: &str) -> &mut Key {
        self.keys.entry(key.to_owned()).or_default()
    }

    /// The block that a worker gets, packed; nothing if there is none for it.
    fn offer(&mut self, key: &str) -> Result<Vec<u8>, FleetError> {
        let deadline = self.deadline();
        // Blocks that others have answered, or that are late, do not count.
        let is_due = |(number, held): &(&usize, &Held)| self.open.contains_key(number) && held.at.elapsed() < deadline;
        let is_trusted = self.keys.get(key).is_none_or(|known| {
            let held = known.held.iter().filter(is_due).count();
            known.refused < MOST_REFUSED && held < (MOST_HELD + 4 * known.answered) as usize
        });
        let Some(number) = is_trusted.then(|| self.next_block(key)).flatten() else {
            return Ok(Vec::new());
        };
        let at = Instant::now();
        let held = self.key(key).held.entry(number).or_insert(Held { times: 0, at });
        *held = Held { times: held.times + 1, at };
        self.open.entry(number).and_modify(|first| *first = first.or(Some(at)));
        pack(&self.tasks[number])
    }

    /// The time after which a first answer is late.
    fn deadline(&self) -> Duration {
        let (sum, count) = self.answered;
        DEADLINE.max(SLOWEST * (sum / count.max(1)))
    }

    /// A block that no worker has, or else the one that is the most overdue. A key that was given a block before waits
    /// longer for it, and others do not wait for this key.
    fn next_block(&self, key: &str) -> Option<usize> {
        let (deadline, known) = (self.deadline(), self.keys.get(key));
        let late = |number, first: &Option<Instant>| match (known.and_then(|known| known.held.get(number)), first) {
            (Some(Held { times, at }), _) => {
                at.elapsed().checked_sub(deadline.saturating_mul(1 << (times - 1).min(20)))
            }
            (None, Some(first)) => first.elapsed().checked_sub(deadline),
            (None, None) => Some(Duration::MAX),
        };
        let late = self.open.iter().filter_map(|(number, first)| Some((late(number, first)?, Reverse(*number))));
        late.max().map(|(_, Reverse(number))| number)
    }

    /// Adds the games of an answer. Returns the reply to the worker: nothing, or the reason why these cannot be the
    /// games of the block. The block is then played again.
    fn take(&mut self, key: &str, answer: &[u8]) -> Result<String, FleetError> {
        if self.key(key).refused >= MOST_REFUSED {
            return Ok("this key has sent too many refused answers".to_owned());
        }
        let problem = match unpack::<Answer>(answer) {
            Err(error) => error.to_string(),
            Ok(answer) => self.add(key, &answer)?,
        };
        if !problem.is_empty() {
            self.key(key).refused += 1;
            self.warn(format!("games of {key} are refused: {problem}"));
        }
        Ok(problem)
    }

    fn add(&mut self, key: &str, answer: &Answer) -> Result<String, FleetError> {
        let number = answer.number;
        let never_given = format!("block {number} was not given to it, or it has answered before");
        if answer.games.is_empty() {
            // The worker could not play it, so others may. Its key counts as having it still.
            let has_it = self.key(key).held.contains_key(&number);
            self.open.entry(number).and_modify(|first| *first = first.filter(|_| !has_it));
            return Ok(if has_it { String::new() } else { never_given });
        }
        let Some(given) = self.key(key).gives_back(number) else { return Ok(never_given) };
        if self.open.get_mut(&number).map(Option::take).is_none() {
            return Ok(String::new()); // another worker was faster
        }
        let added = self.tournament.add_block(&self.tasks[number].block, &answer.games, self.observer);
        if let Some(problem) = added.map_err(FleetError::new)? {
            return Ok(problem);
        }
        self.open.remove(&number);
        self.key(key).answered += 1;
        self.answered.0 += given.elapsed();
        self.answered.1 += 1;
        self.added = Instant::now();
        self.warned = None;
        Ok(String::new())
    }
}

/// Answers a worker. A worker that misses the answer asks again, or sends its games again, which are then recognised.
/// Answers go only to inboxes: of this account, or the name that the server gives to an inbox of another account.
fn reply(link: &Link, message: &Message, answer: Vec<u8>) {
    let is_inbox = |reply: &&Subject| reply.starts_with("_INBOX.") || reply.starts_with("_R_.");
    if let Some(reply) = message.reply.as_ref().filter(is_inbox) {
        let _ = link.send(reply, answer);
    }
}

/// A message: the version and the content.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    protocol: u32,
    program: String,
    content: T,
}

/// The bytes of a message.
pub(super) fn pack(content: &impl Serialize) -> Result<Vec<u8>, FleetError> {
    let text = json(&Envelope { protocol: PROTOCOL, program: this_program(), content });
    let bytes = compress(text.as_bytes());
    if text.len() > MOST_UNPACKED || bytes.len() > MOST_BYTES {
        return Err(FleetError::new(format!("{} bytes of games, and a message has at most {MOST_BYTES}", bytes.len())));
    }
    Ok(bytes)
}

/// Reads a message from an untrusted sender.
pub(super) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FleetError> {
    let envelope: Envelope<T> = read_said(&decompress(bytes, MOST_UNPACKED)?)?;
    Ok(envelope.content)
}

impl NamedAgent {
    /// An agent of this machine, for workers. `write` stores a file at the server, under a hash of its content. The
    /// spec names the kernel, because kernels give different floats.
    pub(super) fn new(
        game: &dyn AnyGame,
        spec: &AgentSpec,
        write: impl FnOnce(&str, &[u8]) -> Result<ObjectInfo, FleetError>,
    ) -> Result<NamedAgent, FleetError> {
        let wrong = |problem: String| FleetError::new(format!("agent `{spec}`: {problem}"));
        if spec.clone().tables_mut().is_some_and(|tables| tables.is_some()) {
            let problem = "workers do not have this machine's tables; play this match on this machine only";
            return Err(wrong(problem.to_owned()));
        }
        let AgentSpec::Network(source, given) = spec else {
            return Ok(NamedAgent { spec: spec.to_string(), parcel: None });
        };
        let file = game.load(source).map_err(|error| wrong(error.to_string()))?;
        let bytes = file.to_bytes();
        let name = GameFile::id(&bytes).to_string();
        let mut given = given.clone();
        given.kernel = given.kernel.or(Some(KernelKind::best()));
        let source = AgentSource::File((name.clone() + FILE_ENDING).into());
        Ok(NamedAgent { spec: AgentSpec::Network(source, given).to_string(), parcel: Some(write(&name, &bytes)?) })
    }
}

/// The hash in the file name of a shared agent.
pub(super) fn hash_of(source: &AgentSource) -> Option<FileId> {
    let AgentSource::File(path) = source else {
        return None;
    };
    path.to_str()?.strip_suffix(FILE_ENDING)?.parse().ok()
}

#[cfg(test)]
mod tests;
