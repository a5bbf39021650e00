//! The worker's side: plays blocks of pairs, a block per thread at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::task::JoinHandle;
use xxhash_rust::xxh3::xxh3_128;

use super::task::{Answer, NamedAgent, Task, file_name, hash_of, pack, unpack};
use crate::networks::read_object;
use crate::places::{blocks_subject, results_subject};
use crate::reporter::Worker;
use crate::settings::with_board;
use crate::{Doing, FleetError, lock};
use jarmo_core::net::GameVersion;
use jarmo_exact::agent::{AgentSource, AgentSpec, Networks, build_from};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
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
    worker: Worker<'a>,
    networks: Networks,
    folder: Mutex<Option<TempDir>>, // of agent files; locked while one is fetched
    asked: Option<JoinHandle<Option<Vec<u8>>>>, // for a block
    failed: Mutex<Option<Instant>>, // the last block that could not be played
}

impl<'a, C: Catalog> Matches<'a, C> {
    pub(crate) fn new(games: &'a C, worker: Worker<'a>) -> Matches<'a, C> {
        Matches {
            games,
            worker,
            networks: Networks::new(),
            folder: Mutex::new(None),
            asked: None,
            failed: Mutex::new(None),
        }
    }

    /// Plays the pairs that wait, until there are none or the worker is to stop. Waits for nothing if there are none.
    pub(crate) fn play_waiting(&mut self) {
        let Some(first) = self.first_waiting() else {
            return;
        };
        let Worker { reporter, threads, .. } = self.worker;
        let before = match reporter.doing_now() {
            // If a file still waits afterwards, its next attempt says so.
            Doing::WaitingForQueue | Doing::WaitingForServer => Doing::Playing,
            before => before,
        };
        reporter.doing(Doing::PlayingMatches);
        let (first, busy) = (Mutex::new(Some(first)), AtomicUsize::new(0));
        let matches = &*self;
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| matches.play_blocks(&first, &busy));
            }
        });
        reporter.doing(before);
    }

    /// A block that came since the last call, if there is one. The question is asked in the background.
    fn first_waiting(&mut self) -> Option<Task> {
        let failed = *lock(&self.failed);
        if failed.is_some_and(|failed| failed.elapsed() < ASK_AGAIN) {
            return None;
        }
        let (client, subject) = (self.worker.link.client.clone(), self.subject());
        let asked = self.asked.get_or_insert_with(|| {
            self.worker.link.spawn(async move {
                tokio::time::sleep(ASK_EVERY).await;
                let answer = client.request(subject, Vec::new().into()).await;
                answer.ok().map(|answer| answer.payload.to_vec())
            })
        });
        if !asked.is_finished() {
            return None;
        }
        let answer = self.worker.link.wait(self.asked.take()?).ok().flatten()?;
        self.read(&answer)
    }

    fn subject(&self) -> String {
        blocks_subject(&self.worker.link.user)
    }

    /// The block in the arena's answer, if there is one.
    fn read(&self, answer: &[u8]) -> Option<Task> {
        let task = (!answer.is_empty()).then(|| unpack(answer))?;
        task.map_err(|error| self.fail(&error)).ok()
    }

    /// One thread's part. One of the threads plays the block `first`.
    fn play_blocks(&self, first: &Mutex<Option<Task>>, busy: &AtomicUsize) {
        while !self.worker.is_to_stop() {
            let taken = lock(first).take();
            match taken.or_else(|| self.next()) {
                Some(task) => {
                    busy.fetch_add(1, Ordering::Relaxed);
                    let played = self.answer(&task);
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
        let offer = self.worker.link.ask(&self.subject(), Vec::new()).ok()?;
        self.read(&offer)
    }

    fn fail(&self, error: &FleetError) {
        *lock(&self.failed) = Some(Instant::now());
        let warning = format!("pairs of a match: {error}");
        self.worker.reporter.warn(warning);
    }

    /// Plays a block and sends its games, or gives it back.
    fn answer(&self, task: &Task) -> Result<(), FleetError> {
        let Worker { link, reporter, .. } = self.worker;
        let played = self.play(task);
        let games = played.clone().unwrap_or_default();
        let pairs = games.len() / 2;
        let answer = pack(&Answer { number: task.number, games })?;
        let subject = results_subject(&task.event.tournament, &link.user);
        let begun = Instant::now();
        loop {
            link.check_admission()?;
            match link.ask(&subject, answer.clone()) {
                Ok(problem) if problem.is_empty() => break,
                Ok(problem) => return Err(FleetError::new(String::from_utf8_lossy(&problem))),
                Err(error) if self.worker.is_to_stop() => return Err(error),
                Err(FleetError::Missing(_)) if begun.elapsed() > ARENA_GONE => break,
                Err(error) => reporter.warn(format!("pairs of a match: {error}; trying again")),
            }
            thread::sleep(AGAIN);
        }
        if pairs > 0 {
            reporter.pairs(pairs);
        }
        played.map(|_| ())
    }

    /// The games of a block; none if the worker is to stop before they are over.
    fn play(&self, task: &Task) -> Result<Vec<GameRecord>, FleetError> {
        let specs = [self.spec(&task.agents[0])?, self.spec(&task.agents[1])?];
        let (mut rules, _board) = with_board(task.event.board.as_deref())?;
        rules.quiet_limit = task.event.quiet_limit;
        let block = PlayBlock { task, specs: &specs, networks: &self.networks, stop: self.worker.stop };
        let played = self.games.with_game(&task.event.origin.game, &rules, block);
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
        let mut folder = lock(&self.folder);
        let folder = match &mut *folder {
            Some(folder) => folder,
            none => none.insert(TempDir::new().map_err(FleetError::new)?),
        };
        let path = folder.path().join(file_name(&id.to_string()));
        if !path.exists() {
            let parcel = agent.parcel.as_ref().ok_or_else(|| wrong("its file is missing"))?;
            let bytes = read_object(self.worker.link, parcel)?;
            if FileId(xxh3_128(&bytes)) != id {
                return Err(wrong("its file has another content"));
            }
            let written = write_whole(&path, &bytes);
            written.map_err(|error| wrong(&format!("{}: {error}", path.display())))?;
        }
        Ok(AgentSpec::Network(AgentSource::File(path), given))
    }
}

struct PlayBlock<'a> {
    task: &'a Task,
    specs: &'a [AgentSpec; 2],
    networks: &'a Networks,
    stop: &'a AtomicBool,
}

impl GameTask for PlayBlock<'_> {
    type Output = Result<Vec<GameRecord>, FleetError>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let check = self.task.event.origin.check(&GameVersion::of(&game));
        check.map_err(|problem| FleetError::new(format!("the match: {problem}")))?;
        let build = |spec| build_from(game.clone(), spec, self.networks);
        let team: Result<Team<G>, _> = self.specs.iter().map(build).collect();
        let team = team.map_err(FleetError::new)?;
        let played = self.task.block.play(&game, vec![team], self.stop);
        played.map(Option::unwrap_or_default).map_err(FleetError::new)
    }
}
