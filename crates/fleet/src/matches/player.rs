//! The worker's side: plays blocks of pairs, a block per thread at a time.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Context, Message};
use tokio::task::JoinHandle;
use xxhash_rust::xxh3::xxh3_128;

use super::task::{Answer, Task, Verdict, file_name, hash_of, pack, unpack};
use crate::board_file::write_board;
use crate::link::fetch;
use crate::networks::read_object;
use crate::places::{AGENTS, PAIRS, PLAYERS, results_subject};
use crate::reporter::Reporter;
use crate::{Doing, FleetError, FleetErrorKind, Link, WorkerEvent};
use jarmo_core::net::GameVersion;
use jarmo_exact::agent::{AgentSource, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_host::files::write_whole;
use jarmo_host::record::GameRecord;
use jarmo_judge::arena::Team;
use jarmo_learn::run::FileId;

/// The pause after a look that found no queue of pairs.
const PAUSE: Duration = Duration::from_secs(2);

/// How long a request for the first pair waits at the server. Nothing waits for it here.
const LONG: Duration = Duration::from_secs(10);

/// How long a thread that plays matches waits for its next pair.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two signs of life, several times shorter than the wait for an acknowledgement.
const ALIVE_EVERY: Duration = Duration::from_secs(3);

/// A block that this worker cannot play is offered to others after this time.
const OFFER_AGAIN: Duration = Duration::from_secs(10);

/// The pause before an answer is sent again.
const AGAIN: Duration = Duration::from_millis(500);

/// An arena that takes no answer for this long is gone.
const ARENA_GONE: Duration = Duration::from_secs(60);

/// A queue of pairs and the pair that waited there.
type Waiting = Option<(PullConsumer, Message)>;

/// Plays the matches of a fleet.
pub(crate) struct Matches<'a, C> {
    games: &'a C,
    link: &'a Link,
    worker: &'a str,
    threads: usize,
    reporter: Arc<Reporter>,
    networks: Networks,
    folder: AgentFolder,
    fetching: Mutex<()>, // a file is fetched once
    queue: Option<PullConsumer>,
    asked: Option<JoinHandle<Waiting>>, // for a pair
}

impl<'a, C: Catalog> Matches<'a, C> {
    pub(crate) fn new(
        games: &'a C,
        link: &'a Link,
        worker: &'a str,
        threads: usize,
        reporter: Arc<Reporter>,
    ) -> Matches<'a, C> {
        let folder = format!("jarmo-agents-{}", std::process::id());
        Matches {
            games,
            link,
            worker,
            threads,
            reporter,
            networks: Networks::new(),
            folder: AgentFolder(std::env::temp_dir().join(folder)),
            fetching: Mutex::new(()),
            queue: None,
            asked: None,
        }
    }

    /// Plays the pairs that wait, until there are none or `stop` is set. Waits for nothing if there are none.
    pub(crate) fn play_waiting(&mut self, stop: &AtomicBool, tell: &mut impl FnMut(WorkerEvent)) {
        let Some((queue, first)) = self.first_waiting() else {
            return;
        };
        self.queue = Some(queue);
        let before = match self.reporter.doing_now() {
            // If a file still waits afterwards, its next attempt says so.
            Doing::WaitingForQueue | Doing::WaitingForServer => Doing::Playing,
            before => before,
        };
        self.reporter.doing(Doing::PlayingMatches);
        tell(WorkerEvent::Doing(Doing::PlayingMatches));
        let (first, busy) = (Mutex::new(Some(first)), AtomicUsize::new(0));
        let matches = &*self;
        thread::scope(|scope| {
            let play = || matches.play_blocks(&first, &busy, stop);
            let lanes: Vec<_> = (0..matches.threads).map(|_| scope.spawn(play)).collect();
            let mut reported = Instant::now();
            while lanes.iter().any(|lane| !lane.is_finished()) {
                matches.reporter.events(&mut *tell);
                if reported.elapsed() > ALIVE_EVERY {
                    reported = Instant::now();
                    matches.reporter.send(matches.link);
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        self.reporter.events(&mut *tell);
        self.reporter.doing(before);
        tell(WorkerEvent::Doing(before));
    }

    /// A block that came since the last call, if there is one. The request for it waits at the server meanwhile. It may be
    /// a block that a lost worker had, which the server no longer counts as new.
    fn first_waiting(&mut self) -> Waiting {
        let context = self.link.context();
        let ask = || self.link.spawn(first_block(context.clone()));
        let asked = self.asked.get_or_insert_with(ask);
        if !asked.is_finished() {
            return None;
        }
        let asked = self.asked.take()?;
        self.link.wait(asked).ok().flatten()
    }

    /// One thread's part. One of the threads plays the block `first`.
    fn play_blocks(&self, first: &Mutex<Option<Message>>, busy: &AtomicUsize, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let taken = first.lock().expect("no thread panics").take();
            let next = taken.map_or_else(|| self.next(), |message| Ok(Some(message)));
            match next {
                Ok(Some(message)) => {
                    busy.fetch_add(1, Ordering::Relaxed);
                    let played = self.answer(&message, stop);
                    busy.fetch_sub(1, Ordering::Relaxed);
                    if let Err(error) = played {
                        self.reporter.warn(format!("pairs of a match: {error}"));
                        let again = AckKind::Nak(Some(OFFER_AGAIN));
                        let _ = self.link.wait(message.ack_with(again)); // or the server's wait ends
                    }
                }
                Ok(None) if busy.load(Ordering::Relaxed) == 0 => return,
                Ok(None) => {}
                Err(error) => {
                    self.reporter.warn(format!("pairs of a match: {error}"));
                    return;
                }
            }
        }
    }

    fn next(&self) -> Result<Option<Message>, FleetError> {
        let queue = self.queue.as_ref().expect("found before");
        Ok(self.link.fetch(queue, 1, PATIENCE)?.pop())
    }

    /// Plays a block, sends its games, and acknowledges it. Meanwhile the server hears that the block is being played.
    fn answer(&self, message: &Message, stop: &AtomicBool) -> Result<(), FleetError> {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut said = Instant::now();
                while !is_over.load(Ordering::Relaxed) {
                    if said.elapsed() > ALIVE_EVERY {
                        said = Instant::now();
                        let _ = self.link.wait(message.ack_with(AckKind::Progress));
                    }
                    thread::sleep(Duration::from_millis(20));
                }
            });
            let answered = self.play_and_send(message, stop);
            is_over.store(true, Ordering::Relaxed);
            answered
        })
    }

    fn play_and_send(&self, message: &Message, stop: &AtomicBool) -> Result<(), FleetError> {
        let task: Task = unpack(&message.payload)?;
        let Some(games) = self.play(&task, stop)? else {
            // Another worker can begin at once.
            return self.link.wait(message.ack_with(AckKind::Nak(None)));
        };
        let pairs = task.block.openings.len();
        let answer = pack(&Answer {
            task: task.id.clone(),
            worker: self.worker.to_owned(),
            games,
        })?;
        let subject = results_subject(&task.tournament, self.link.user());
        let begun = Instant::now();
        loop {
            match self.link.ask(&subject, answer.clone()) {
                Ok(verdict) => match unpack::<Verdict>(&verdict)? {
                    Verdict::Taken => {
                        self.reporter.pairs(pairs);
                        break;
                    }
                    Verdict::Refused(problem) => return Err(FleetError::new(problem)),
                },
                Err(error) if stop.load(Ordering::Relaxed) => return Err(error),
                Err(error)
                    if error.kind() == FleetErrorKind::Missing && begun.elapsed() > ARENA_GONE =>
                {
                    break;
                }
                Err(error) => self
                    .reporter
                    .warn(format!("pairs of a match: {error}; trying again")),
            }
            thread::sleep(AGAIN);
        }
        self.link.wait(message.double_ack())
    }

    fn play(&self, task: &Task, stop: &AtomicBool) -> Result<Option<Vec<GameRecord>>, FleetError> {
        let specs = [self.spec(&task.agents[0])?, self.spec(&task.agents[1])?];
        let board = write_board(task.board.as_deref(), &task.id)?;
        let rules = GameSettings {
            board: board.as_ref().map(|board| board.path().to_owned()),
            quiet_limit: task.quiet_limit,
            max_plies: None,
        };
        let block = PlayBlock {
            task,
            specs: &specs,
            networks: &self.networks,
            stop,
        };
        let played = self.games.with_game(&task.origin.game, &rules, block);
        played.map_err(FleetError::new)?
    }

    /// The spec of an agent on this machine. Its file is fetched if it is not there.
    fn spec(&self, text: &str) -> Result<AgentSpec, FleetError> {
        let spec: AgentSpec = text.parse().map_err(FleetError::new)?;
        let AgentSpec::Network(source, given) = spec else {
            return Ok(spec);
        };
        let wrong = |problem: &str| FleetError::new(format!("agent `{text}`: {problem}"));
        let id = hash_of(&source).ok_or_else(|| wrong("its file is not named by its content"))?;
        let path = self.folder.0.join(file_name(&id.to_string()));
        let _fetching = self.fetching.lock().expect("no thread panics");
        if !path.exists() {
            let bytes = read_object(self.link, AGENTS, &id.to_string())?;
            if FileId(xxh3_128(&bytes)) != id {
                return Err(wrong("its file has another content"));
            }
            let made = fs::create_dir_all(&self.folder.0);
            let written = made.and_then(|()| write_whole(&path, &bytes));
            written.map_err(|error| wrong(&format!("{}: {error}", path.display())))?;
        }
        Ok(AgentSpec::Network(AgentSource::File(path), given))
    }
}

impl<C> Drop for Matches<'_, C> {
    fn drop(&mut self) {
        if let Some(asked) = &self.asked {
            asked.abort();
        }
    }
}

/// Waits for a block of pairs. Without a queue no arena has used this server so far.
async fn first_block(context: Context) -> Waiting {
    let found = context.get_consumer_from_stream(PLAYERS, PAIRS).await;
    if let Ok(queue) = found
        && let Ok(mut messages) = fetch(&queue, 1, LONG).await
    {
        return messages.pop().map(|message| (queue, message));
    }
    tokio::time::sleep(PAUSE).await;
    None
}

struct PlayBlock<'a> {
    task: &'a Task,
    specs: &'a [AgentSpec; 2],
    networks: &'a Networks,
    stop: &'a AtomicBool,
}

impl GameTask for PlayBlock<'_> {
    type Output = Result<Option<Vec<GameRecord>>, FleetError>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let check = self.task.origin.check(&GameVersion::of(&game));
        check.map_err(|problem| FleetError::new(format!("the match: {problem}")))?;
        let build = |spec| build_sharing(game.clone(), spec, self.networks);
        let team: Result<Team<G>, _> = self.specs.iter().map(build).collect();
        let team = team.map_err(FleetError::new)?;
        let played = self.task.block.play(&game, vec![team], self.stop);
        played.map_err(FleetError::new)
    }
}

/// A folder of agent files that is deleted when it is dropped.
struct AgentFolder(PathBuf);

impl Drop for AgentFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // a leftover is harmless
    }
}
