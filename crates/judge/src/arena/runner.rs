//! Plays many games together. In each round, every agent gets one batch with all positions in which it is to move.
//! Then all games advance by one action.
//!
//! The games are divided among threads, each of which has its own agents. The actions of a game depend only on its
//! own random stream and on the agents' memory of it. They do not depend on the number of threads or on the other
//! games in a batch.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::schedule::GameId;
use jarmo_core::env::{self, Keep, Line};
use jarmo_core::game::{Action, Game, Mask, Outcome};
use jarmo_core::random::Stream;
use jarmo_exact::agent::{Agent, Limit, Memory, Request};

/// What every agent may use per move. It replaces the limits of the agents' specs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// The number of nodes or simulations.
    pub nodes: Option<u64>,
    /// Milliseconds. If they are set, every thread plays only one game at a time, so that agents get the time for
    /// themselves.
    pub movetime_ms: Option<u64>,
}

/// How a game starts.
pub struct Setup<P> {
    /// The agents that play White and Black, as indices into the team.
    pub seats: [usize; 2],
    /// The actions before the agents choose.
    pub opening: Line<P>,
    /// The random stream of the game.
    pub stream: Stream,
}

/// A game that has ended: which one of the tournament it is, its start and actions, and its outcome.
pub type Ended<P> = (GameId, Line<P>, Outcome);

/// A thread starts with `FIRST_ROOM` games at a time, and doubles their number after each round shorter than
/// `SHORT_ROUND`. Batches thus grow where decisions are fast. Where they are slow, few games run at a time, so games
/// end throughout the tournament and not all together.
const FIRST_ROOM: usize = 4;
const SHORT_ROUND: Duration = Duration::from_millis(100);

/// How often the collector checks `stop` and calls `collect`.
const TICK: Duration = Duration::from_millis(50);

/// The agents of one thread, in the order of the tournament's agents.
pub type Team<G> = Vec<Box<dyn Agent<G>>>;

/// Plays games on one thread per team, with up to `in_flight` games at a time on each thread. `collect` is called with
/// every finished game, and with `None` at intervals. The tournament ends when `collect` breaks or `stop` is set.
/// Unfinished games are then dropped.
pub fn play_games<G: Game>(
    game: &G,
    teams: Vec<Team<G>>,
    ids: &[GameId],
    setup: impl Fn(GameId) -> Setup<G::Position> + Sync,
    (budget, in_flight): (Budget, usize),
    stop: &AtomicBool,
    mut collect: impl FnMut(Option<Ended<G::Position>>) -> ControlFlow<()>,
) {
    let halt = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let (sender, finished) = mpsc::channel();
    thread::scope(|scope| {
        for team in teams {
            let keep = Keep { history: true, events: false };
            let games = TeamGames {
                team,
                budget,
                halt: &halt,
                sender: sender.clone(),
                env: env::Shard::new(game, 0..in_flight, keep, |_| None),
                running: (0..in_flight).map(|_| None).collect(),
                actions: vec![Action(0); in_flight],
            };
            let (next, setup) = (&next, &setup);
            scope.spawn(move || {
                let ids = || ids.get(next.fetch_add(1, Ordering::Relaxed)).copied();
                games.play(ids, setup);
            });
        }
        drop(sender);
        loop {
            let arrived = match finished.recv_timeout(TICK) {
                Ok(game) => Some(game),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            // Games that have finished before the halt are still collected.
            if collect(arrived).is_break() || stop.load(Ordering::Relaxed) {
                halt.store(true, Ordering::Relaxed);
            }
        }
    });
}

/// The agents of one thread, and the games that they play.
struct TeamGames<'a, G: Game> {
    team: Team<G>,
    budget: Budget,
    halt: &'a AtomicBool,
    sender: Sender<Ended<G::Position>>,
    env: env::Shard<G>,
    running: Vec<Option<Running>>, // [slots], `None` if idle
    actions: Vec<Action>,          // [slots], those of the current round
}

/// An unfinished game. The environment has its position.
struct Running {
    id: GameId,
    seats: [usize; 2],
    stream: Stream,
    memories: [Memory; 2], // what the agents of White and Black remember of the game
}

impl<G: Game> TeamGames<'_, G> {
    fn play(mut self, mut next: impl FnMut() -> Option<GameId>, setup: impl Fn(GameId) -> Setup<G::Position>) {
        let most = self.env.len();
        let mut room = FIRST_ROOM.min(most);
        loop {
            for slot in 0..room {
                if self.running[slot].is_none()
                    && let Some(id) = next()
                {
                    let Setup { seats, opening, stream } = setup(id);
                    self.env.start(slot, opening);
                    self.running[slot] = Some(Running { id, seats, stream, memories: Default::default() });
                }
            }
            if self.running.iter().all(Option::is_none) {
                return;
            }
            let begun = Instant::now();
            for agent in 0..self.team.len() {
                self.ask(agent);
            }
            if self.halt.load(Ordering::Relaxed) {
                return; // decisions that a halt has cut short do not count
            }
            self.step();
            if begun.elapsed() < SHORT_ROUND {
                room = (2 * room).min(most);
            }
        }
    }

    /// Lets one agent choose an action in every game in which it is to move.
    fn ask(&mut self, agent: usize) {
        let begun = Instant::now();
        let movetime = self.budget.movetime_ms.map(Duration::from_millis);
        let is_late = || movetime.is_some_and(|time| begun.elapsed() >= time);
        let limit = Limit {
            nodes: self.budget.nodes,
            deadline: movetime.is_some().then_some(&is_late),
            stop: Some(self.halt),
            progress: None,
            latest: None,
        };
        let (env, game) = (&self.env, self.env.game());
        let mut asked = Vec::new();
        let mut requests = Vec::new();
        for (slot, running) in self.running.iter_mut().enumerate() {
            let Some(running) = running else { continue };
            let position = *env.position(slot);
            let mover = game.to_move(&position).index();
            if running.seats[mover] == agent {
                asked.push(slot);
                requests.push(Request {
                    position,
                    stream: &mut running.stream,
                    limit,
                    memory: Some(&mut running.memories[mover]),
                });
            }
        }
        if requests.is_empty() {
            return;
        }
        let decisions = self.team[agent].choose(&mut requests);
        assert_eq!(decisions.len(), asked.len(), "one decision per request");
        for (slot, decision) in asked.into_iter().zip(decisions) {
            assert!(
                env.legal(slot).contains(decision.action),
                "agent {agent} of its team, counted from 0, chose an illegal action in {}",
                game.position_text(env.position(slot))
            );
            self.actions[slot] = decision.action;
        }
    }

    /// Plays the chosen actions, and sends finished games to the collector.
    fn step(&mut self) {
        let (running, sender) = (&mut self.running, &self.sender);
        self.env.step(&self.actions, |ended, env| {
            let running = running[ended.slot].take().expect("only running games end");
            // Sending fails only if the collector has already stopped.
            let _ = sender.send((running.id, env.history(ended.slot), ended.outcome));
            None // the slot stays idle until the next game starts
        });
    }
}
