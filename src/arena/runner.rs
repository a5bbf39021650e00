//! Plays games in lockstep: in a round every agent is asked once for all games in which it is to move,
//! and then all games go on by one action.
//!
//! Games are shared out among threads, each with agents of its own. A game's moves depend on its own
//! random stream and on what the agents keep of it, so neither the number of threads nor the
//! neighbours in a batch change them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::schedule::GameId;
use crate::agent::{Agent, Limit, Memory, Request};
use crate::env::{self, Keep, Opening};
use crate::game::{Action, Game, Mask, Outcome, Player};
use crate::random::Stream;

/// What every agent may spend on a move, instead of what its spec says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Nodes or simulations.
    pub nodes: Option<u64>,
    /// Time. With it, games are played one at a time on every thread, so that the clock is fair.
    pub movetime: Option<Duration>,
}

impl Budget {
    /// The time in milliseconds.
    pub fn movetime_ms(&self) -> Option<u64> {
        self.movetime.map(|time| time.as_millis() as u64)
    }
}

/// A game before its first asked move.
pub(super) struct Setup<P> {
    /// The agents of White and of Black, as places in the list of agents.
    pub seats: [usize; 2],
    /// How it begins.
    pub opening: Opening<P>,
    /// The game's randomness.
    pub stream: Stream,
}

/// A game that was played to its end.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    /// Which one.
    pub id: GameId,
    /// All actions, those of the opening among them.
    pub actions: Vec<Action>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Every thread begins with so many games at a time and doubles their number as long as a round is short.
/// So batches become full where games are fast or batches pay, and slow games do not all end at the
/// very end.
const FIRST_ROOM: usize = 4;
const SHORT_ROUND: Duration = Duration::from_millis(100);

/// How often the collector looks at what the outside wants.
const TICK: Duration = Duration::from_millis(50);

/// The agents that play on one thread, one for every entrant.
pub type Team<G> = Vec<Box<dyn Agent<G>>>;

/// Plays the games, as many threads as there are teams, up to `in_flight` games at a time on each. Finished games
/// are handed to `collect`, which is called with `None` now and then, too, and can end the whole.
/// Games that are under way when `stop` is set or `collect` breaks are given up.
pub(super) fn run<G: Game>(
    game: &G,
    teams: Vec<Team<G>>,
    ids: &[GameId],
    setup: impl Fn(GameId) -> Setup<G::Position> + Sync,
    (budget, in_flight): (Budget, usize),
    stop: &AtomicBool,
    mut collect: impl FnMut(Option<Finished>) -> ControlFlow<()>,
) {
    let halt = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let (sender, finished) = mpsc::channel();
    thread::scope(|scope| {
        for team in teams {
            let keep = Keep {
                history: true,
                events: false,
            };
            let shard = Shard {
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
                shard.play(ids, setup);
            });
        }
        drop(sender);
        loop {
            let arrived = match finished.recv_timeout(TICK) {
                Ok(game) => Some(game),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            // What was finished before a halt is still collected after it.
            if collect(arrived).is_break() || stop.load(Ordering::Relaxed) {
                halt.store(true, Ordering::Relaxed);
            }
        }
    });
}

/// The games of one thread, and the agents that play them.
struct Shard<'a, G: Game> {
    team: Team<G>,
    budget: Budget,
    halt: &'a AtomicBool,
    sender: Sender<Finished>,
    env: env::Shard<G>,
    running: Vec<Option<Running>>, // [slots], none where idle
    actions: Vec<Action>,          // [slots], of a round
}

/// What belongs to a game beside its position.
struct Running {
    id: GameId,
    seats: [usize; 2],
    stream: Stream,
    memories: [Memory; 2], // of the agents of White and of Black
}

impl<G: Game> Shard<'_, G> {
    fn play(
        mut self,
        mut next: impl FnMut() -> Option<GameId>,
        setup: impl Fn(GameId) -> Setup<G::Position>,
    ) {
        let most = self.env.len();
        let mut room = FIRST_ROOM.min(most);
        loop {
            for slot in 0..room {
                if self.running[slot].is_none()
                    && let Some(id) = next()
                {
                    self.begin(slot, id, setup(id));
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
                return; // answers given under a halt must not count
            }
            self.step();
            if begun.elapsed() < SHORT_ROUND {
                room = (2 * room).min(most);
            }
        }
    }

    fn begin(&mut self, slot: usize, id: GameId, setup: Setup<G::Position>) {
        self.env.start(slot, setup.opening);
        self.running[slot] = Some(Running {
            id,
            seats: setup.seats,
            stream: setup.stream,
            memories: Default::default(),
        });
    }

    /// Lets one agent choose in every game where it is to move.
    fn ask(&mut self, agent: usize) {
        let limit = Limit {
            nodes: self.budget.nodes,
            deadline: self.budget.movetime.map(|time| Instant::now() + time),
            stop: Some(self.halt),
            progress: None,
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
        let choices = self.team[agent].choose(&mut requests);
        assert_eq!(choices.len(), asked.len(), "one answer for every request");
        for (slot, choice) in asked.into_iter().zip(choices) {
            assert!(
                env.legal(slot).contains(choice.action),
                "{} chose an illegal action in {}",
                self.team[agent].name(),
                game.position_text(env.position(slot))
            );
            self.actions[slot] = choice.action;
        }
    }

    /// Plays what was chosen, and sends off the games that are over.
    fn step(&mut self) {
        let (running, sender) = (&mut self.running, &self.sender);
        self.env.step(&self.actions, |ended| {
            let running = running[ended.slot].take().expect("a game under way");
            let history = ended.history.expect("histories are kept");
            // Nobody listens any more once the collector has stopped.
            let _ = sender.send(Finished {
                id: running.id,
                actions: history.actions.clone(),
                outcome: ended.outcome,
            });
            None // until the next game of the tournament begins there
        });
    }
}

impl GameId {
    /// The agents of White and of Black, where these are the bout's first and second.
    pub(super) fn seats(&self, (first, second): (usize, usize)) -> [usize; 2] {
        match self.first_plays {
            Player::White => [first, second],
            Player::Black => [second, first],
        }
    }
}
