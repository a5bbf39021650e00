//! Agents as specs describe them, with this machine's agent files, exact tables and proofs.

mod networks;
mod trained;

pub use jarmo_core::agent::{
    AGENTS, Agent, AgentError, AgentOpponent, AgentSource, AgentSpec, AlphaBetaAgent, AlphaBetaSpec, Candidate,
    Deadline, Decision, EndgameAgent, GreedyAgent, Limit, Memory, PolicyAgent, RandomAgent, Request, SamplingAgent,
    Sources, TreeAgent, TreeSettings, TreeSpec, YesNo, build_from, build_without_search,
};

pub use networks::Networks;
pub use trained::{is_file, is_trained, load, provide, trained};

use crate::catalog::CatalogGame;
use jarmo_core::error::FileError;
use jarmo_host::run_folder;

/// Reads a spec in the form that users type on this machine, in which runs stand for their checkpoints.
pub fn read_spec(text: &str) -> Result<AgentSpec, AgentError> {
    with_checkpoint(text)?.parse()
}

/// The text of a spec with the agent file in place of a run. The folder of a run, or `run:FOLDER`, stands for the agent
/// file of its newest checkpoint, and `run:FOLDER@STEP` for the one of that step. Settings after a `?` apply to it.
pub fn with_checkpoint(text: &str) -> Result<String, AgentError> {
    let (head, settings) = text.split_at(text.find('?').unwrap_or(text.len()));
    let wrong = |problem: FileError| AgentError::new(text, problem);
    let is_agent = text.parse::<AgentSpec>().is_ok();
    match run_folder::named(head).map_err(wrong)? {
        Some((folder, step)) if !is_agent => {
            let (_, file) = run_folder::checkpoint_at(folder, step).map_err(wrong)?;
            Ok(format!("{}{settings}", file.display()))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Builds the agent of a spec for this game.
pub fn build<G: CatalogGame>(game: G, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, AgentError> {
    build_from(game, spec, &Networks::new())
}

/// Agents that play alike, for example one per thread.
pub type Agents<G> = Vec<Box<dyn Agent<G>>>;

/// Builds agents of one spec that share their networks.
pub fn build_all<G: CatalogGame>(game: &G, spec: &AgentSpec, count: usize) -> Result<Agents<G>, AgentError> {
    let networks = Networks::new();
    (0..count).map(|_| build_from(game.clone(), spec, &networks)).collect()
}
