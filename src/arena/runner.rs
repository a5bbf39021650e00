//! Plays games in lockstep: every agent is asked once a round for all games in which it is to move.
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
    /// The position after the opening.
    pub position: P,
    /// The opening.
    pub actions: Vec<Action>,
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
            let shard = Shard {
                game,
                team,
                budget,
                halt: &halt,
                sender: sender.clone(),
                games: Vec::new(),
            };
            let (next, setup) = (&next, &setup);
            scope.spawn(move || {
                let ids = || ids.get(next.fetch_add(1, Ordering::Relaxed)).copied();
                shard.play(in_flight, ids, setup);
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
    game: &'a G,
    team: Team<G>,
    budget: Budget,
    halt: &'a AtomicBool,
    sender: Sender<Finished>,
    games: Vec<Running<G::Position>>,
}

struct Running<P> {
    id: GameId,
    setup: Setup<P>,
    memories: [Memory; 2], // of the agents of White and of Black
}

impl<G: Game> Shard<'_, G> {
    fn play(
        mut self,
        in_flight: usize,
        mut next: impl FnMut() -> Option<GameId>,
        setup: impl Fn(GameId) -> Setup<G::Position>,
    ) {
        let mut room = FIRST_ROOM.min(in_flight);
        while !self.halt.load(Ordering::Relaxed) {
            while self.games.len() < room {
                let Some(id) = next() else { break };
                let setup = setup(id);
                self.games.push(Running {
                    id,
                    setup,
                    memories: Default::default(),
                });
            }
            if self.games.is_empty() {
                return;
            }
            let begun = Instant::now();
            for agent in 0..self.team.len() {
                self.ask(agent);
            }
            self.hand_over();
            if begun.elapsed() < SHORT_ROUND {
                room = (2 * room).min(in_flight);
            }
        }
    }

    /// Lets one agent move in every game where it is to move.
    fn ask(&mut self, agent: usize) {
        let game = self.game;
        let limit = Limit {
            nodes: self.budget.nodes,
            deadline: self.budget.movetime.map(|time| Instant::now() + time),
            stop: Some(self.halt),
            progress: None,
        };
        let mut asked = Vec::new();
        let mut requests = Vec::new();
        for (index, running) in self.games.iter_mut().enumerate() {
            let setup = &mut running.setup;
            let mover = game.to_move(&setup.position).index();
            if setup.seats[mover] == agent && game.outcome(&setup.position).is_none() {
                asked.push(index);
                requests.push(Request {
                    position: setup.position,
                    stream: &mut setup.stream,
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
        for (index, choice) in asked.into_iter().zip(choices) {
            let setup = &mut self.games[index].setup;
            assert!(
                game.legal(&setup.position).contains(choice.action),
                "{} chose an illegal action in {}",
                self.team[agent].name(),
                game.position_text(&setup.position)
            );
            game.play(&mut setup.position, choice.action);
            setup.actions.push(choice.action);
        }
    }

    /// Sends off the games that are over. Answers given under a halt are worth nothing, so then nothing
    /// is sent.
    fn hand_over(&mut self) {
        if self.halt.load(Ordering::Relaxed) {
            return;
        }
        let game = self.game;
        let over =
            |running: &mut Running<G::Position>| game.outcome(&running.setup.position).is_some();
        for ended in self.games.extract_if(.., over) {
            let outcome = game
                .outcome(&ended.setup.position)
                .expect("the game is over");
            // Nobody listens any more once the collector has stopped.
            let _ = self.sender.send(Finished {
                id: ended.id,
                actions: ended.setup.actions,
                outcome,
            });
        }
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
