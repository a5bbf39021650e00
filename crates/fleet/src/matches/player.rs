//! The worker's side: plays blocks of pairs, a block per thread at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::task::JoinHandle;
use xxhash_rust::xxh3::xxh3_128;

use super::task::{Answer, NamedAgent, Task, file_name, hash_of, pack, unpack};
use crate::board_file::write_board;
use crate::networks::read_object;
use crate::places::{AGENTS, blocks_subject, results_subject};
use crate::reporter::Reporter;
use crate::{Doing, FleetError, FleetErrorKind, Link};
use jarmo_core::net::GameVersion;
use jarmo_exact::agent::{AgentSource, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_host::files::write_whole;
use jarmo_host::record::GameRecord;
use jarmo_judge::arena::Team;
use jarmo_learn::run::FileId;

/// The pause between two questions for a first block. Without an arena the server answers them itself.
const ASK_EVERY: Duration = Duration::from_secs(2);

/// The pause of a thread that waits for its next block while others play.
const PATIENCE: Duration = Duration::from_secs(1);

/// A worker that cannot play a block asks for another one after this time.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// The pause before an answer is sent again.
const AGAIN: Duration = Duration::from_millis(500);

/// An arena that takes no answer for this long is gone. If it is not, the block is played again.
const ARENA_GONE: Duration = Duration::from_secs(5);

/// Plays the matches of a fleet.
pub(crate) struct Matches<'a, C> {
    games: &'a C,
    link: &'a Link,
    threads: usize,
    reporter: &'a Reporter,
    networks: Networks,
    folder: OnceLock<TempDir>,                  // of agent files
    fetching: Mutex<()>,                        // a file is fetched once
    asked: Option<JoinHandle<Option<Vec<u8>>>>, // for a block
    failed: Mutex<Option<Instant>>,             // the last block that could not be played
}

impl<'a, C: Catalog> Matches<'a, C> {
    pub(crate) fn new(
        games: &'a C,
        link: &'a Link,
        threads: usize,
        reporter: &'a Reporter,
    ) -> Matches<'a, C> {
        Matches {
            games,
            link,
            threads,
            reporter,
            networks: Networks::new(),
            folder: OnceLock::new(),
            fetching: Mutex::new(()),
            asked: None,
            failed: Mutex::new(None),
        }
    }

    /// Plays the pairs that wait, until there are none or `stop` is set. Waits for nothing if there are none.
    pub(crate) fn play_waiting(&mut self, stop: &AtomicBool) {
        let Some(first) = self.first_waiting() else {
            return;
        };
        let before = match self.reporter.doing_now() {
            // If a file still waits afterwards, its next attempt says so.
            Doing::WaitingForQueue | Doing::WaitingForServer => Doing::Playing,
            before => before,
        };
        self.reporter.doing(Doing::PlayingMatches);
        let (first, busy) = (Mutex::new(Some(first)), AtomicUsize::new(0));
        let matches = &*self;
        thread::scope(|scope| {
            for _ in 0..matches.threads {
                scope.spawn(|| matches.play_blocks(&first, &busy, stop));
            }
        });
        self.reporter.doing(before);
    }

    /// A block that came since the last call, if there is one. The question is asked in the background.
    fn first_waiting(&mut self) -> Option<Task> {
        let failed = *self.failed.lock().expect("no thread panics");
        if failed.is_some_and(|failed| failed.elapsed() < ASK_AGAIN) {
            return None;
        }
        let (client, subject) = (self.link.client().clone(), self.subject());
        let asked = self.asked.get_or_insert_with(|| {
            self.link.spawn(async move {
                tokio::time::sleep(ASK_EVERY).await;
                let answer = client.request(subject, Vec::new().into()).await;
                answer.ok().map(|answer| answer.payload.to_vec())
            })
        });
        if !asked.is_finished() {
            return None;
        }
        let answer = self.link.wait(self.asked.take()?).ok().flatten()?;
        self.read(&answer)
    }

    fn subject(&self) -> String {
        blocks_subject(self.link.user())
    }

    /// The block in the arena's answer, if there is one.
    fn read(&self, answer: &[u8]) -> Option<Task> {
        let task = (!answer.is_empty()).then(|| unpack(answer))?;
        task.map_err(|error| self.fail(&error)).ok()
    }

    /// One thread's part. One of the threads plays the block `first`.
    fn play_blocks(&self, first: &Mutex<Option<Task>>, busy: &AtomicUsize, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let taken = first.lock().expect("no thread panics").take();
            match taken.or_else(|| self.next()) {
                Some(task) => {
                    busy.fetch_add(1, Ordering::Relaxed);
                    let played = self.answer(&task, stop);
                    busy.fetch_sub(1, Ordering::Relaxed);
                    if let Err(error) = played {
                        return self.fail(&error);
                    }
                }
                None if busy.load(Ordering::Relaxed) == 0 => return,
                None => thread::sleep(PATIENCE),
            }
        }
    }

    fn next(&self) -> Option<Task> {
        let offer = self.link.ask(&self.subject(), Vec::new()).ok()?;
        self.read(&offer)
    }

    fn fail(&self, error: &FleetError) {
        *self.failed.lock().expect("no thread panics") = Some(Instant::now());
        self.reporter.warn(format!("pairs of a match: {error}"));
    }

    /// Plays a block and sends its games, or gives it back.
    fn answer(&self, task: &Task, stop: &AtomicBool) -> Result<(), FleetError> {
        let played = self.play(task, stop);
        let games = match &played {
            Ok(Some(games)) => games.clone(),
            Ok(None) | Err(_) => Vec::new(),
        };
        let pairs = games.len() / 2;
        let answer = pack(&Answer {
            number: task.number,
            games,
        })?;
        let subject = results_subject(&task.tournament, self.link.user());
        let begun = Instant::now();
        loop {
            self.link.check_admission()?;
            match self.link.ask(&subject, answer.clone()) {
                Ok(problem) if problem.is_empty() => break,
                Ok(problem) => return Err(FleetError::new(String::from_utf8_lossy(&problem))),
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
        if pairs > 0 {
            self.reporter.pairs(pairs);
        }
        played.map(|_| ())
    }

    fn play(&self, task: &Task, stop: &AtomicBool) -> Result<Option<Vec<GameRecord>>, FleetError> {
        let specs = [self.spec(&task.agents[0])?, self.spec(&task.agents[1])?];
        let board = write_board(task.board.as_deref())?;
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
    fn spec(&self, agent: &NamedAgent) -> Result<AgentSpec, FleetError> {
        let text = &agent.spec;
        let spec: AgentSpec = text.parse().map_err(FleetError::new)?;
        let AgentSpec::Network(source, given) = spec else {
            return Ok(spec);
        };
        let wrong = |problem: &str| FleetError::new(format!("agent `{text}`: {problem}"));
        let id = hash_of(&source).ok_or_else(|| wrong("its file is not named by its content"))?;
        let _fetching = self.fetching.lock().expect("no thread panics");
        let folder = match self.folder.get() {
            Some(folder) => folder,
            None => {
                let made = TempDir::new().map_err(FleetError::new)?;
                self.folder.get_or_init(|| made)
            }
        };
        let path = folder.path().join(file_name(&id.to_string()));
        if !path.exists() {
            let parcel = agent.parcel.as_ref();
            let parcel = parcel.ok_or_else(|| wrong("its file is missing"))?;
            let bytes = read_object(self.link, AGENTS, parcel)?;
            if FileId(xxh3_128(&bytes)) != id {
                return Err(wrong("its file has another content"));
            }
            let written = write_whole(&path, &bytes);
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
