//! Agents, which choose actions for batches of positions.

mod alphabeta;
mod build;
mod endgame;
mod greedy;
mod opponent;
mod policy;
mod random;
mod sampling;
mod sources;
mod spec;
mod tree;

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};

pub use alphabeta::AlphaBetaAgent;
pub use build::{build_from, build_without_search};
pub use endgame::EndgameAgent;
pub use greedy::GreedyAgent;
pub use opponent::AgentOpponent;
pub use policy::PolicyAgent;
pub use random::RandomAgent;
pub use sampling::SamplingAgent;
pub use sources::{AgentSource, Sources};
pub use spec::{AGENTS, AgentError, AgentSpec, AlphaBetaSpec, FILE_ENDING, TreeSpec, YesNo};
pub use tree::{TreeAgent, TreeSettings};

use crate::eval::Value;
use crate::game::{Action, Game, Proven};
use crate::random::Stream;

/// Chooses actions in a game.
///
/// Each request of a batch is answered independently: the decision may depend on the request's memory, but not on
/// other requests.
pub trait Agent<G: Game>: Send {
    /// The number of positions evaluated so far, if the agent uses an evaluator.
    fn evaluations(&self) -> Option<u64> {
        None
    }

    /// Chooses an action for each request and returns the decisions in the same order. No game may be over.
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision>;

    /// Chooses an action for each position. Each has its own random stream. No memory is kept for the games.
    fn decide(&mut self, positions: &[G::Position], streams: &mut [Stream], limit: Limit<'_>) -> Vec<Decision> {
        let requests = positions.iter().zip(streams);
        let request = |(&position, stream)| Request { position, stream, limit, memory: None };
        self.choose(&mut requests.map(request).collect::<Vec<_>>())
    }
}

/// A position for which the agent chooses an action.
pub struct Request<'a, G: Game> {
    /// The position.
    pub position: G::Position,
    /// The random stream of this game.
    pub stream: &'a mut Stream,
    /// Limits of time and of nodes.
    pub limit: Limit<'a>,
    /// What the agent remembers from its earlier decisions in this game.
    pub memory: Option<&'a mut Memory>,
}

/// What an agent remembers between decisions in the same game, for example its search tree. The caller keeps one for
/// each game and agent. An agent ignores the memory of another one.
#[derive(Default)]
pub struct Memory(Option<Box<dyn Any + Send>>);

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Removes and returns the content if it has this type.
    fn take<T: Any + Send>(&mut self) -> Option<T> {
        let kept = self.0.take()?.downcast().ok()?;
        Some(*kept)
    }

    /// Replaces the content.
    fn keep<T: Any + Send>(&mut self, kept: T) {
        self.0 = Some(Box::new(kept));
    }
}

/// Returns whether a point in time has passed. The caller provides the clock, because this crate does not use one.
pub type Deadline<'a> = &'a (dyn Fn() -> bool + Sync);

/// Limits for one decision. Without a limit, the agent's spec applies.
#[derive(Clone, Copy, Default)]
pub struct Limit<'a> {
    /// The number of nodes or simulations. It replaces that of the agent's spec.
    pub nodes: Option<u64>,
    /// The agent searches until this time. It replaces the number of nodes of the agent's spec. In a batch, the first
    /// time that has passed ends the search from all positions.
    pub deadline: Option<Deadline<'a>>,
    /// The agent must choose by this time even if it has not used all its nodes. Unlike `deadline`, it does not
    /// replace the number of nodes of the agent's spec.
    pub latest: Option<Deadline<'a>>,
    /// When another thread sets this, the agent chooses at once.
    pub stop: Option<&'a AtomicBool>,
    /// Called now and then with the decision so far.
    pub progress: Option<&'a (dyn Fn(&Decision) + Sync)>,
}

impl Limit<'_> {
    /// Whether the time is up or `stop` is set.
    pub fn expired(&self) -> bool {
        let times = [self.deadline, self.latest];
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) || times.iter().flatten().any(|is_past| is_past())
    }

    /// Whether [`Limit::expired`] can ever become true.
    pub fn can_expire(&self) -> bool {
        self.stop.is_some() || self.deadline.is_some() || self.latest.is_some()
    }
}

/// The action that an agent chose, and what it knows about the position.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The action to play.
    pub action: Action,
    /// The value of the position for the player to move.
    pub value: Value,
    /// The proven result of the position.
    pub proven: Option<Proven>,
    /// The number of nodes or simulations.
    pub nodes: u64,
    /// The depth of the search; 0 for agents that do not search.
    pub depth: u32,
    /// The actions that the agent considered, best first.
    pub candidates: Vec<Candidate>,
}

impl Decision {
    /// An action that was chosen without search.
    fn unsearched(action: Action) -> Decision {
        Decision { action, value: Value::EVEN, proven: None, nodes: 0, depth: 0, candidates: Vec::new() }
    }

    /// The decision for one of these candidates, which the agent compared by looking one ply ahead.
    fn of_one_ply(mut candidates: Vec<Candidate>, chosen: usize) -> Decision {
        candidates.swap(0, chosen);
        let best = &mut candidates[0];
        best.policy = 1.0;
        let (action, value, proven) = (best.action, best.value, best.proven);
        Decision { action, value, proven, nodes: candidates.len() as u64, depth: 1, candidates }
    }
}

/// An agent's evaluation of one action.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The action.
    pub action: Action,
    /// The number of simulations or nodes spent on it. If the agent keeps its tree, those of earlier decisions count,
    /// too.
    pub visits: u64,
    /// Its probability in the agent's policy, from 0 to 1.
    pub policy: f32,
    /// The value after playing it, for the player to move now.
    pub value: Value,
    /// The proven result of playing it, for the player to move now.
    pub proven: Option<Proven>,
    /// The expected line of play, starting with this action.
    pub line: Vec<Action>,
}

impl Candidate {
    /// An action whose result is proven.
    fn proven(action: Action, proven: Proven) -> Candidate {
        let value = Value::proven(proven);
        Candidate { action, visits: 1, policy: 0.0, value, proven: Some(proven), line: vec![action] }
    }
}
