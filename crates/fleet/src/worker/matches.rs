//! Plays blocks of pairs for arenas, a block per thread at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::{AGAIN, Worker};
use crate::matches::{Answer, Task, hash_of, pack, unpack};
use crate::places::{blocks_subject, read_object, results_subject};
use crate::settings::with_board;
use crate::{Doing, FleetError, GameFile, Orders, TICK, WorkerEvent, lock};
use jarmo_core::net::{AgentFile, FrozenNet, GameVersion, KernelKind};
use jarmo_exact::agent::{AgentError, AgentSource, AgentSpec};
use jarmo_facade::{AgentPlan, AnyGame, Games};
use jarmo_host::record::GameRecord;
use jarmo_learn::run::FileId;

const ASK_EVERY: Duration = Duration::from_secs(2); // for a first block; without an arena the server answers itself
const LOOK_EVERY: Duration = Duration::from_secs(5); // at the orders to workers
const PATIENCE: Duration = Duration::from_secs(1); // of a thread that waits for its next block while others play
const ASK_AGAIN: Duration = Duration::from_secs(30); // after a block that could not be played

const ARENA_GONE: Duration = Duration::from_secs(5); // without taking an answer; if it is not, it offers the block again
const MOST_NETWORKS: usize = 32; // that are kept for further blocks

/// Plays the matches of a fleet.
pub(super) struct Matches<'a> {
    games: &'a Games,
    worker: Worker<'a>,
    networks: Mutex<Vec<Loaded>>, // the oldest first; locked while one is fetched
    asked: Option<JoinHandle<Option<Vec<u8>>>>, // for a block
    failed: Mutex<Option<Instant>>, // the last block that could not be played
}

/// An agent's network on a kernel, for a version of its game.
type Loaded = ((FileId, KernelKind, GameVersion), FrozenNet);

impl<'a> Matches<'a> {
    pub(super) fn new(games: &'a Games, worker: Worker<'a>) -> Matches<'a> {
        Matches { games, worker, networks: Mutex::default(), asked: None, failed: Mutex::new(None) }
    }

    /// Plays waiting blocks until there are none or the worker is to stop. Returns at once if there are none.
    pub(super) fn play_waiting(&mut self) {
        let Some(first) = self.first_waiting() else {
            return;
        };
        let Worker { reporter, threads, .. } = self.worker;
        let before = match reporter.progress().doing {
            // If a file still waits afterwards, its next attempt says so.
            Doing::WaitingForQueue | Doing::WaitingForServer => Doing::Playing,
            before => before,
        };
        reporter.doing(Doing::PlayingMatches);
        let (first, busy, over) = (Mutex::new(Some(first)), AtomicUsize::new(0), AtomicBool::new(false));
        let matches = &*self;
        thread::scope(|scope| {
            let players = (0..threads).map(|_| scope.spawn(|| matches.play_blocks(&first, &busy, &over)));
            let players: Vec<_> = players.collect();
            let mut look = Instant::now() + LOOK_EVERY;
            while !players.iter().all(|player| player.is_finished()) {
                thread::sleep(TICK);
                if Instant::now() >= look {
                    look = Instant::now() + LOOK_EVERY;
                    let orders = matches.worker.find_run().ok().and_then(|(orders, _)| orders);
                    over.fetch_or(orders.is_some_and(|orders| orders != Orders::Play), Ordering::Relaxed);
                }
            }
        });
        reporter.doing(before);
    }

    /// A block that has arrived since the last call, if there is one. The request for it runs in the background.
    fn first_waiting(&mut self) -> Option<Task> {
        let failed = *lock(&self.failed);
        if failed.is_some_and(|failed| failed.elapsed() < ASK_AGAIN) {
            return None;
        }
        let (client, subject) = (self.worker.link.client.clone(), self.subject());
        let asked = self.asked.get_or_insert_with(|| {
            self.worker.link.runtime.spawn(async move {
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
    fn play_blocks(&self, first: &Mutex<Option<Task>>, busy: &AtomicUsize, over: &AtomicBool) {
        while !self.worker.is_to_stop() && !over.load(Ordering::Relaxed) {
            let taken = lock(first).take();
            match taken.or_else(|| self.read(&self.worker.link.ask(&self.subject(), Vec::new()).ok()?)) {
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

    fn fail(&self, error: &FleetError) {
        *lock(&self.failed) = Some(Instant::now());
        self.worker.reporter.warn(format!("pairs of a match: {error}"));
    }

    /// Plays a block and sends its games, or gives it back.
    fn answer(&self, task: &Task) -> Result<(), FleetError> {
        let Worker { link, reporter, .. } = self.worker;
        let played = self.play(task);
        let games = played.clone().unwrap_or_default();
        let pairs = games.len() / 2;
        let answer = pack(&Answer { number: task.number, games })?;
        let subject = results_subject(&task.tournament, &link.user);
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
            reporter.tell(WorkerEvent::Pairs(pairs));
        }
        played.map(|_| ())
    }

    /// The games of a block; none if the worker is to stop before they are over.
    fn play(&self, task: &Task) -> Result<Vec<GameRecord>, FleetError> {
        let (mut rules, _board) = with_board(&task.origin)?;
        rules.quiet_limit = task.quiet_limit;
        let game = self.games.open(&task.origin.game, &rules).map_err(FleetError::new)?;
        let check = task.origin.check(&game.facts().version);
        check.map_err(|problem| FleetError::new(format!("the match: {problem}")))?;
        let [first, second] = task.agents.each_ref().map(|agent| self.plan(task, game.as_ref(), &agent.spec));
        let played = game.play_block(&task.block, &[first?, second?], self.worker.stop);
        played.map(Option::unwrap_or_default).map_err(FleetError::new)
    }

    /// An agent of a block. Its file comes from the server.
    fn plan(&self, task: &Task, game: &dyn AnyGame, spec: &str) -> Result<AgentPlan, FleetError> {
        let spec: AgentSpec = spec.parse().map_err(FleetError::new)?;
        let net = match &spec {
            AgentSpec::Network(source, given) => {
                let net = self.network(task, game, source, given.kernel);
                Some(net.map_err(|problem| FleetError::new(AgentError::new(&spec, problem)))?)
            }
            _ => None,
        };
        Ok(AgentPlan::given(spec, net))
    }

    fn network(
        &self,
        task: &Task,
        game: &dyn AnyGame,
        source: &AgentSource,
        kernel: Option<KernelKind>,
    ) -> Result<FrozenNet, String> {
        let id = hash_of(source).ok_or("its file is not named by its content")?;
        let kernel = kernel.unwrap_or_else(KernelKind::best);
        let wanted = (id, kernel, game.facts().version.clone());
        let mut networks = lock(&self.networks);
        if let Some((_, net)) = networks.iter().find(|(loaded, _)| *loaded == wanted) {
            return Ok(net.clone());
        }
        let mut parcels = task.agents.iter().filter_map(|agent| agent.parcel.as_ref());
        let parcel = parcels.find(|parcel| parcel.name == id.to_string()).ok_or("its file is missing")?;
        let bytes = read_object(self.worker.link, parcel).map_err(|error| error.to_string())?;
        if GameFile::id(&bytes) != id {
            return Err("its file has another content".to_owned());
        }
        let file = AgentFile::from_bytes(&bytes).and_then(|file| game.fit(file)).map_err(|error| error.to_string())?;
        let net = FrozenNet::with_kernel(file.weights(), kernel);
        if networks.len() == MOST_NETWORKS {
            networks.remove(0);
        }
        networks.push((wanted, net.clone()));
        Ok(net)
    }
}
