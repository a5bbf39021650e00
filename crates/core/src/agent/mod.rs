//! Who plays: agents choose actions for a batch of positions.

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
/// Each request of a batch is answered on its own: the decision may depend on the request's memory, but
/// not on the other requests.
pub trait Agent<G: Game>: Send {
    /// The number of positions evaluated so far, if the agent uses an evaluator.
    fn evaluations(&self) -> Option<u64> {
        None
    }

    /// Chooses an action for each request, in their order. No game may be over.
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision>;

    /// Chooses an action for each position, with one stream for each. Nothing is kept for their games.
    fn decide(&mut self, positions: &[G::Position], streams: &mut [Stream], limit: Limit<'_>) -> Vec<Decision> {
        let requests = positions.iter().zip(streams);
        let request = |(&position, stream)| Request { position, stream, limit, memory: None };
        self.choose(&mut requests.map(request).collect::<Vec<_>>())
    }
}

/// A position to choose an action for.
pub struct Request<'a, G: Game> {
    /// The position.
    pub position: G::Position,
    /// The random stream of this game.
    pub stream: &'a mut Stream,
    /// Limits of time and nodes.
    pub limit: Limit<'a>,
    /// What the agent keeps between its decisions in this game.
    pub memory: Option<&'a mut Memory>,
}

/// What an agent keeps from one decision to the next in the same game. The caller holds one per game and
/// agent. Other agents ignore it.
#[derive(Default)]
pub struct Memory(Option<Box<dyn Any + Send>>);

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Takes out the content if it has this type.
    fn take<T: Any + Send>(&mut self) -> Option<T> {
        let kept = self.0.take()?.downcast().ok()?;
        Some(*kept)
    }

    /// Replaces the content.
    fn keep<T: Any + Send>(&mut self, kept: T) {
        self.0 = Some(Box::new(kept));
    }
}

/// Whether a time has come. The clock is the caller's: a comparison with the time of day.
pub type Deadline<'a> = &'a (dyn Fn() -> bool + Sync);

/// Limits on one decision. Unset fields fall back to the agent's spec.
#[derive(Clone, Copy, Default)]
pub struct Limit<'a> {
    /// The number of nodes or simulations.
    pub nodes: Option<u64>,
    /// The time that the agent may use up. It replaces the number of nodes of the agent's spec.
    pub deadline: Option<Deadline<'a>>,
    /// The time by which the agent must choose even if its budget is not used up. Unlike `deadline`, it does not
    /// replace the number of nodes of the agent's spec.
    pub latest: Option<Deadline<'a>>,
    /// The agent chooses at once when another thread sets this.
    pub stop: Option<&'a AtomicBool>,
    /// Called from time to time with the decision so far.
    pub progress: Option<&'a (dyn Fn(&Decision) + Sync)>,
}

impl Limit<'_> {
    /// Whether its time has passed or `stop` is set.
    pub fn expired(&self) -> bool {
        let times = [self.deadline, self.latest];
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) || times.iter().flatten().any(|is_past| is_past())
    }

    /// Whether [`Limit::expired`] can ever become true.
    pub fn can_expire(&self) -> bool {
        self.stop.is_some() || self.deadline.is_some() || self.latest.is_some()
    }
}

/// What an agent chose, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The action to play.
    pub action: Action,
    /// The value of the position for the player to move.
    pub value: Value,
    /// The proven result of the position.
    pub proven: Option<Proven>,
    /// Nodes or simulations used.
    pub nodes: u64,
    /// Search depth; 0 for agents without one.
    pub depth: u32,
    /// The actions that the agent considered, best first.
    pub candidates: Vec<Candidate>,
}

impl Decision {
    /// An action that was chosen without looking ahead.
    fn unsearched(action: Action) -> Decision {
        Decision { action, value: Value::EVEN, proven: None, nodes: 0, depth: 0, candidates: Vec::new() }
    }

    /// One of the candidates that an agent tells apart by looking one ply ahead.
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
    /// Simulations or nodes used for it. In a tree that is kept, those of earlier decisions count too.
    pub visits: u64,
    /// Its probability in the agent's policy, from 0 to 1.
    pub policy: f32,
    /// The value of playing it, for the player to move.
    pub value: Value,
    /// The proven result of playing it, for the player to move.
    pub proven: Option<Proven>,
    /// The expected play, this action first.
    pub line: Vec<Action>,
}

impl Candidate {
    /// An action whose result is proven.
    fn proven(action: Action, proven: Proven) -> Candidate {
        let value = Value::proven(proven);
        Candidate { action, visits: 1, policy: 0.0, value, proven: Some(proven), line: vec![action] }
    }
}
