//! The one place that knows which agents this build has: what the levels and the default mean, and
//! whom a stranger may ask for.

use std::path::PathBuf;

use crate::agent::{self, Agent, AgentError, AgentKind, AgentSpec};
use crate::catalog::CatalogGame;
use crate::play::agents::Level;

/// Memory for what a search remembers. A thinking thread keeps a few agents.
const MEGABYTES: u32 = 32;

/// Moves that a judgement compares.
const LINES: u32 = 3;

/// More nodes than fit into any time. Without a number the search would not look at the clock.
const ENOUGH: u64 = 1 << 40;

/// The most nodes or simulations a move that a stranger may ask for: some seconds.
const MOST_NODES: u64 = 2_000_000;
const MOST_SIMULATIONS: u64 = 10_000;

/// An agent, and what it may spend on a move besides its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strength {
    /// The agent.
    pub spec: String,
    /// Nodes or simulations, if they are fixed.
    pub nodes: Option<u64>,
}

impl Strength {
    fn new(spec: impl Into<String>, nodes: Option<u64>) -> Strength {
        Strength {
            spec: spec.into(),
            nodes,
        }
    }
}

/// The trained agent of a game, if there is one where the program was started.
fn trained(game: &str) -> Option<PathBuf> {
    let path = PathBuf::from(format!("checkpoints/{game}.safetensors"));
    path.exists().then_some(path)
}

/// Whether the strongest agent here was trained, or is the best of the built-in ones.
pub fn is_trained(game: &str) -> bool {
    trained(game).is_some()
}

/// The agent that judges positions: hints, the evaluation, analysis. It takes what time it is given.
pub fn analyst(game: &str) -> Strength {
    match trained(game) {
        Some(path) => Strength::new(format!("{}?mb={MEGABYTES}", path.display()), None),
        None => Strength::new(
            format!("alphabeta?mb={MEGABYTES}&lines={LINES}"),
            Some(ENOUGH),
        ),
    }
}

/// The agent that plays at a level.
pub fn of_level(game: &str, level: Level) -> Strength {
    let file = trained(game).map(|path| format!("{}?mb={MEGABYTES}", path.display()));
    let search = |file_nodes, nodes| match &file {
        Some(file) => Strength::new(file, file_nodes),
        None => Strength::new(format!("alphabeta?mb={MEGABYTES}"), nodes),
    };
    match level {
        Level::Newcomer => Strength::new("random", None),
        Level::Easy => Strength::new("greedy", None),
        Level::Medium => search(Some(8), Some(300)),
        Level::Hard => search(Some(100), Some(10_000)),
        Level::Best => search(None, Some(ENOUGH)),
    }
}

/// An error unless this is the spec of an agent that can play the game.
pub fn check<G: CatalogGame>(game: &G, spec: &str) -> Result<(), String> {
    build(game, spec).map(drop)
}

/// The agent of a spec.
pub fn build<G: CatalogGame>(game: &G, spec: &str) -> Result<Box<dyn Agent<G>>, String> {
    let spec: AgentSpec = spec
        .parse()
        .map_err(|error: AgentError| error.to_string())?;
    agent::build(game.clone(), &spec).map_err(|error| error.to_string())
}

/// Whether a stranger may ask for this agent: none that reads a file, or takes more memory or time
/// than the levels do by much.
pub fn is_harmless(spec: &str) -> bool {
    let Ok(spec) = spec.parse::<AgentSpec>() else {
        return false;
    };
    let most = match spec.kind {
        AgentKind::Random | AgentKind::Greedy => return true,
        AgentKind::Uniform | AgentKind::Rollout => MOST_SIMULATIONS,
        AgentKind::AlphaBeta => MOST_NODES,
        AgentKind::Tables(_) | AgentKind::File(_) => return false,
    };
    let plain = ["sims", "nodes", "mb", "tables", "lines"];
    spec.number.is_none_or(|number| number <= most)
        && plain.iter().all(|key| spec.setting(key).is_none())
}
