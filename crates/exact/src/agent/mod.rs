//! Agents as specs describe them, with this machine's agent files, exact tables and proofs.

mod networks;
mod trained;

pub use jarmo_core::agent::{
    AGENTS, Agent, AgentError, AgentOpponent, AgentSource, AgentSpec, AlphaBetaAgent, AlphaBetaSpec, Candidate,
    Deadline, Decision, EndgameAgent, GreedyAgent, Limit, Memory, PolicyAgent, RandomAgent, Request, SamplingAgent,
    Sources, TreeAgent, TreeSettings, TreeSpec, YesNo, build_from,
};

pub use networks::Networks;
pub use trained::{is_file, is_trained, load, provide, trained};

use crate::catalog::CatalogGame;
use jarmo_core::agent;

/// Builds the agent of a spec for this game.
pub fn build<G: CatalogGame>(game: G, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, AgentError> {
    build_from(game, spec, &Networks::new())
}

/// Agents that play alike, say one per thread.
pub type Agents<G> = Vec<Box<dyn Agent<G>>>;

/// Builds agents of one spec that share their networks.
pub fn build_all<G: CatalogGame>(game: &G, spec: &AgentSpec, count: usize) -> Result<Agents<G>, AgentError> {
    let networks = Networks::new();
    (0..count).map(|_| build_from(game.clone(), spec, &networks)).collect()
}

/// Builds agents of the network of a spec alone, without its search and its tables; `None` if it has no network.
pub fn build_without_search<G: CatalogGame>(
    game: &G,
    spec: &AgentSpec,
    count: usize,
) -> Result<Option<Agents<G>>, AgentError> {
    let networks = Networks::new();
    let agents = (0..count).map(|_| agent::build_without_search(game.clone(), spec, &networks).transpose());
    agents.collect::<Option<Result<_, _>>>().transpose()
}
