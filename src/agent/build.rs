//! From the text that names an agent to the agent.

use std::path::Path;
use std::sync::Arc;

use super::spec::{AGENTS, FILE_ENDING};
use super::{
    Agent, AgentError, AgentKind, AgentSpec, AlphaBetaAgent, EndgameAgent, GreedyAgent,
    PolicyAgent, RandomAgent, TreeAgent, TreeSettings,
};
use crate::catalog::CatalogGame;
use crate::eval::{Evaluator, Rollout, Uniform, WithEndgames};
use crate::net::{AgentFile, FrozenNet, KernelKind, NetConfig, NetEvaluator, NetShape, Weights};
use crate::random::stream;
use crate::tables::Endgames;

/// Simulations of a rollout agent that names no number.
const ROLLOUT_SIMULATIONS: u32 = 1000;

/// Makes the agent that a spec names, for this game.
pub fn build<G: CatalogGame>(game: G, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, AgentError> {
    match &spec.kind {
        AgentKind::Random => Ok(Box::new(RandomAgent::new(game))),
        AgentKind::Greedy => Ok(Box::new(GreedyAgent::new(game))),
        AgentKind::Uniform => {
            let settings = TreeSettings::default().with_spec(spec)?;
            tree_agent(game, spec, Uniform, settings)
        }
        AgentKind::Rollout => {
            let settings = rollout_settings().with_spec(spec)?;
            tree_agent(game.clone(), spec, Rollout::new(game), settings)
        }
        AgentKind::Tables(folder) => {
            let settings = rollout_settings().with_spec(spec)?;
            let tables = endgames(&game, spec, folder)?;
            let rollout = Rollout::new(game.clone());
            Ok(tree_over_tables(game, spec, tables, rollout, settings))
        }
        AgentKind::AlphaBeta => Ok(Box::new(AlphaBetaAgent::new(game, spec)?)),
        AgentKind::File(path) => {
            if spec.simulations()? == Some(0) {
                refuse_search_settings(spec)?;
                let evaluator = network(&game, spec, path)?;
                let agent = PolicyAgent::new(game.clone(), spec.to_string(), evaluator);
                return Ok(match spec.setting("tables") {
                    None => Box::new(agent),
                    Some(folder) => {
                        let tables = endgames(&game, spec, Path::new(folder))?;
                        let name = spec.to_string();
                        Box::new(EndgameAgent::new(game, name, tables, Box::new(agent)))
                    }
                });
            }
            let settings = TreeSettings::network().with_spec(spec)?;
            let evaluator = network(&game, spec, path)?;
            tree_agent(game, spec, evaluator, settings)
        }
    }
}

/// The network of an agent file on its own, without the search and the tables that the spec names;
/// `None` for agents that have no network.
pub fn build_without_search<G: CatalogGame>(
    game: G,
    spec: &AgentSpec,
) -> Result<Option<Box<dyn Agent<G>>>, AgentError> {
    let AgentKind::File(path) = &spec.kind else {
        return Ok(None);
    };
    let evaluator = network(&game, spec, path)?;
    Ok(Some(Box::new(PolicyAgent::new(
        game,
        spec.to_string(),
        evaluator,
    ))))
}

/// An error if the spec says how to search and that there is to be no search.
fn refuse_search_settings(spec: &AgentSpec) -> Result<(), AgentError> {
    let other = ["sims", "tables", "kernel"];
    for key in spec.kind.settings() {
        if spec.setting(key).is_some() && !other.contains(key) {
            let problem = format!("setting `{key}` is about search, and 0 simulations are none");
            return Err(AgentError::new(spec, problem));
        }
    }
    Ok(())
}

/// The network of an agent file that plays this game.
fn network<G: CatalogGame>(
    game: &G,
    spec: &AgentSpec,
    path: &Path,
) -> Result<NetEvaluator<G>, AgentError> {
    if !path.exists() {
        return Err(AgentError::new(spec, missing_file(path)));
    }
    let file = AgentFile::load_for(path, game).map_err(|error| AgentError::new(spec, error))?;
    let kernels = || KernelKind::ALL.map(KernelKind::name).join(", ");
    let net = match spec.read::<KernelKind>("kernel", &kernels())? {
        None => FrozenNet::new(file.weights()),
        Some(kind) => FrozenNet::with_kernel(file.weights(), kind).ok_or_else(|| {
            let problem = format!("setting kernel={kind}: this processor has no such instructions");
            AgentError::new(spec, problem)
        })?,
    };
    Ok(NetEvaluator::with_net(game.clone(), net))
}

/// An agent with a network that has learned nothing, to measure how fast it is.
pub fn random_net_agent<G: CatalogGame>(
    game: &G,
    config: NetConfig,
    seed: u64,
) -> Box<dyn Agent<G>> {
    let shape = NetShape::of(game);
    let weights = Weights::random(config, shape, &mut stream(seed, 0));
    let evaluator = NetEvaluator::new(game.clone(), &weights);
    let name = "network of random weights".to_owned();
    let settings = TreeSettings::default();
    Box::new(TreeAgent::new(game.clone(), name, evaluator, settings))
}

fn rollout_settings() -> TreeSettings {
    TreeSettings {
        simulations: ROLLOUT_SIMULATIONS,
        ..TreeSettings::puct()
    }
}

/// A tree agent over this evaluator, and over exact tables if the spec names any.
fn tree_agent<G: CatalogGame, E: Evaluator<G> + 'static>(
    game: G,
    spec: &AgentSpec,
    evaluator: E,
    settings: TreeSettings,
) -> Result<Box<dyn Agent<G>>, AgentError> {
    let Some(folder) = spec.setting("tables") else {
        let name = spec.to_string();
        return Ok(Box::new(TreeAgent::new(game, name, evaluator, settings)));
    };
    let tables = endgames(&game, spec, Path::new(folder))?;
    Ok(tree_over_tables(game, spec, tables, evaluator, settings))
}

/// A tree agent with exact tables in front of its evaluator and of itself: it searches what leads to
/// them and plays perfectly where they reach.
fn tree_over_tables<G: CatalogGame, E: Evaluator<G> + 'static>(
    game: G,
    spec: &AgentSpec,
    tables: Arc<dyn Endgames<G>>,
    evaluator: E,
    settings: TreeSettings,
) -> Box<dyn Agent<G>> {
    let name = spec.to_string();
    let evaluator = WithEndgames::new(game.clone(), tables.clone(), evaluator);
    let tree = TreeAgent::new(game.clone(), name.clone(), evaluator, settings);
    Box::new(EndgameAgent::new(game, name, tables, Box::new(tree)))
}

fn endgames<G: CatalogGame>(
    game: &G,
    spec: &AgentSpec,
    folder: &Path,
) -> Result<Arc<dyn Endgames<G>>, AgentError> {
    game.open_endgames(folder)
        .map_err(|error| AgentError::new(spec, error))
}

/// That a file is not there, and which ones are.
fn missing_file(path: &Path) -> String {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut there: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.path().to_str().map(str::to_owned))
        .filter(|name| name.ends_with(FILE_ENDING))
        .collect();
    there.sort();
    let files = match there.len() {
        0 => format!("{} holds no agent file", folder.display()),
        _ => format!("there are {}", there.join(", ")),
    };
    format!("no such file; {files}; without a file there are {AGENTS}")
}
