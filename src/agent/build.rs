//! From the text that names an agent to the agent.

use super::{Agent, AgentError, AgentKind, AgentSpec, GreedyAgent, RandomAgent};
use crate::catalog::CatalogGame;

/// Makes the agent that a spec names, for this game.
pub fn build<G: CatalogGame>(game: G, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, AgentError> {
    match &spec.kind {
        AgentKind::Random => Ok(Box::new(RandomAgent::new(game))),
        AgentKind::Greedy => Ok(Box::new(GreedyAgent::new(game))),
        _ => Err(AgentError::new(spec, "random and greedy are all there is")),
    }
}
