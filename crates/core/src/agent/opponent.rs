//! Uses an agent as the opponent in an environment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Agent, Limit};
use crate::env::Opponent;
use crate::game::{Action, Game};
use crate::random::Stream;

/// Lets an agent play. The agent keeps nothing between its decisions.
pub struct AgentOpponent<G: Game> {
    name: String,
    agent: Mutex<Box<dyn Agent<G>>>, // needed only because `Opponent: Sync`; never contended
    stop: Option<Arc<AtomicBool>>,
}

impl<G: Game> AgentOpponent<G> {
    /// An opponent that has this name in saved environments. Another thread can set `stop` to interrupt it.
    pub fn new(name: String, agent: Box<dyn Agent<G>>, stop: Option<Arc<AtomicBool>>) -> AgentOpponent<G> {
        let agent = Mutex::new(agent);
        AgentOpponent { name, agent, stop }
    }
}

impl<G: Game> Opponent<G> for AgentOpponent<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn can_be_interrupted(&self) -> bool {
        self.stop.is_some()
    }

    fn choose(&mut self, positions: &[G::Position], streams: &mut [Stream]) -> Option<Vec<Action>> {
        let limit = Limit { stop: self.stop.as_deref(), ..Limit::default() };
        let agent = self.agent.get_mut().unwrap_or_else(PoisonError::into_inner);
        let decisions = agent.decide(positions, streams, limit);
        // An interrupted agent has not finished its search, so its decisions are dropped.
        let stopped = limit.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        (!stopped).then(|| decisions.iter().map(|decision| decision.action).collect())
    }
}
