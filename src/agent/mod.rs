//! Who plays: agents choose actions for a batch of positions.

mod alphabeta;
mod build;
mod endgame;
mod greedy;
mod memory;
mod policy;
mod random;
mod spec;
mod tree;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use alphabeta::AlphaBetaAgent;
pub use build::{build, build_without_search, random_net_agent};
pub use endgame::EndgameAgent;
pub use greedy::GreedyAgent;
pub use memory::Memory;
pub use policy::PolicyAgent;
pub use random::RandomAgent;
pub use spec::{
    AGENTS, AgentError, AgentSpec, AlphaBetaSpec, NetworkSpec, RootRule, TablesSpec, TreeSpec,
    YesNo,
};
pub use tree::{TreeAgent, TreeSettings};

use crate::eval::Value;
use crate::game::{Action, Game, Proven};
use crate::random::Stream;

/// Somebody who plays a game.
///
/// Every request of a batch is answered for itself: the answer depends on its memory, but not on its neighbours.
pub trait Agent<G: Game>: Send {
    /// The spec this agent was made from, for tables and records.
    fn name(&self) -> &str;

    /// Positions that an evaluator has judged for this agent so far, if it uses one.
    fn evaluations(&self) -> Option<u64> {
        None
    }

    /// Chooses an action for each request, in their order. A position that is already over is a bug
    /// of the caller.
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Choice>;
}

/// A position to choose an action for.
pub struct Request<'a, G: Game> {
    /// The position; its game is not over.
    pub position: G::Position,
    /// Where randomness for this choice comes from: one stream per game.
    pub stream: &'a mut Stream,
    /// What the agent may spend.
    pub limit: Limit<'a>,
    /// What the agent kept when it was asked before in this game, and may keep for the next time.
    pub memory: Option<&'a mut Memory>,
}

/// What an agent may spend on one choice. Nothing set: what its spec says.
#[derive(Clone, Copy, Default)]
pub struct Limit<'a> {
    /// Nodes or simulations, instead of those of the spec.
    pub nodes: Option<u64>,
    /// When to answer at the latest.
    pub deadline: Option<Instant>,
    /// Set by somebody else to ask for an answer now.
    pub stop: Option<&'a AtomicBool>,
    /// Called now and then with what is known so far.
    pub progress: Option<&'a (dyn Fn(&Choice) + Sync)>,
}

impl Limit<'_> {
    /// Whether time is up or somebody asked to stop.
    pub fn expired(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// What an agent chose, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The action to play.
    pub action: Action,
    /// The position's worth for the player to move.
    pub value: Value,
    /// The result under best play and the plies until it, if the agent knows them for certain.
    pub proven: Option<Proven>,
    /// Nodes or simulations spent.
    pub nodes: u64,
    /// Depth reached, for agents that have one.
    pub depth: u32,
    /// What the agent thinks of the actions it looked at, best first.
    pub candidates: Vec<Candidate>,
}

/// What an agent thinks of one action.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The action.
    pub action: Action,
    /// Simulations or nodes spent on it, also for earlier choices in the game, where they were kept.
    pub visits: u64,
    /// The share of the agent's policy, 0 to 1.
    pub policy: f32,
    /// The position's worth for the player to move if he plays it.
    pub value: Value,
    /// The result for the player to move if he plays it and plies until it, where certain.
    pub proven: Option<Proven>,
    /// Expected play from here, this action first.
    pub line: Vec<Action>,
}
