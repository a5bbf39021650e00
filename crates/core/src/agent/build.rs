//! Builds agents from their specs.

use std::path::Path;
use std::sync::Arc;

use super::spec::pairs;
use super::{
    Agent, AgentError, AgentSource, AgentSpec, AlphaBetaAgent, EndgameAgent, GreedyAgent,
    NetworkSpec, PolicyAgent, ProvenAgent, RandomAgent, SamplingAgent, Sources, TreeAgent,
    TreeSettings, YesNo,
};
use crate::encode::Encode;
use crate::eval::{Evaluator, Rollout, Uniform, WithEndgames};
use crate::known::Endgames;
use crate::net::{KernelKind, NetConfig, NetEvaluator, NetShape, Weights};
use crate::random::stream;
use crate::search::HasHeuristic;

/// Simulations of a rollout agent if the spec sets no number.
const ROLLOUT_SIMULATIONS: u32 = 1000;

/// Builds the agent of a spec for this game from these sources.
pub fn build_from<G: Encode + HasHeuristic>(
    game: G,
    spec: &AgentSpec,
    sources: &dyn Sources<G>,
) -> Result<Box<dyn Agent<G>>, AgentError> {
    let wrong = |problem: String| AgentError::new(spec, problem);
    match spec {
        AgentSpec::Random => Ok(Box::new(RandomAgent::new(game))),
        AgentSpec::Greedy => {
            let problem = no_evaluation(&game);
            let agent = GreedyAgent::new(game).ok_or_else(|| wrong(problem))?;
            Ok(Box::new(agent))
        }
        AgentSpec::Uniform(given) => {
            let settings = TreeSettings::default().with(given).map_err(wrong)?;
            tree_agent(
                game,
                spec,
                Uniform,
                settings,
                given.tables.as_deref(),
                sources,
            )
        }
        AgentSpec::Rollout(given) => {
            let settings = rollout_settings().with(given).map_err(wrong)?;
            let rollout = Rollout::new(game.clone());
            tree_agent(
                game,
                spec,
                rollout,
                settings,
                given.tables.as_deref(),
                sources,
            )
        }
        AgentSpec::Tables(folder, given) => {
            let settings = rollout_settings().with(&given.tree()).map_err(wrong)?;
            let rollout = Rollout::new(game.clone());
            tree_agent(game, spec, rollout, settings, Some(folder), sources)
        }
        AgentSpec::AlphaBeta(given) => {
            let (name, problem) = (spec.to_string(), no_evaluation(&game));
            let agent = AlphaBetaAgent::new(game, name, given).ok_or_else(|| wrong(problem))?;
            Ok(Box::new(agent))
        }
        AgentSpec::Network(source, given) if given.sims == Some(0) => {
            refuse_search_settings(given).map_err(wrong)?;
            let evaluator = network(&game, spec, source, given.kernel, sources)?;
            let name = spec.to_string();
            let agent = PolicyAgent::new(game.clone(), name.clone(), evaluator);
            let agent: Box<dyn Agent<G>> = match &given.tables {
                None => Box::new(agent),
                Some(folder) => {
                    let tables = endgames(&game, spec, folder, sources)?;
                    Box::new(EndgameAgent::new(
                        game.clone(),
                        name,
                        tables,
                        Box::new(agent),
                    ))
                }
            };
            with_proof(game, given, sampling(given, agent), sources).map_err(wrong)
        }
        AgentSpec::Network(source, given) => {
            let settings = TreeSettings::network().with_network(given).map_err(wrong)?;
            let evaluator = network(&game, spec, source, given.kernel, sources)?;
            let tables = given.tables.as_deref();
            let agent = tree_agent(game.clone(), spec, evaluator, settings, tables, sources)?;
            with_proof(game, given, sampling(given, agent), sources).map_err(wrong)
        }
    }
}

/// The message for agents that need a hand-written evaluation, in a game that has none.
fn no_evaluation<G: Encode + HasHeuristic>(game: &G) -> String {
    format!(
        "{} has no evaluation, which greedy and alphabeta need; take rollout:SIMULATIONS or a trained network",
        game.id()
    )
}

/// The agent, or with `sampling` one that draws its actions from the policy.
fn sampling<G: Encode + HasHeuristic>(
    given: &NetworkSpec,
    agent: Box<dyn Agent<G>>,
) -> Box<dyn Agent<G>> {
    match given.sampling {
        None => agent,
        Some(temperature) => Box::new(SamplingAgent::new(agent, temperature)),
    }
}

/// The agent, or with `proof=yes` one that first asks the program's own proof.
fn with_proof<G: Encode + HasHeuristic>(
    game: G,
    given: &NetworkSpec,
    agent: Box<dyn Agent<G>>,
    sources: &dyn Sources<G>,
) -> Result<Box<dyn Agent<G>>, String> {
    if given.proof != Some(YesNo::Yes) {
        return Ok(agent);
    }
    let Some(proof) = sources.proof(&game) else {
        let game = game.id();
        return Err(format!(
            "setting proof=yes: this program has no proof for this board of {game}"
        ));
    };
    Ok(Box::new(ProvenAgent::new(game, proof, agent)))
}

/// Builds an agent from the network of an agent file alone, without the search and the tables of the
/// spec. `None` for agents without a network.
pub fn build_without_search<G: Encode + HasHeuristic>(
    game: G,
    spec: &AgentSpec,
    sources: &dyn Sources<G>,
) -> Result<Option<Box<dyn Agent<G>>>, AgentError> {
    let AgentSpec::Network(source, given) = spec else {
        return Ok(None);
    };
    let evaluator = network(&game, spec, source, given.kernel, sources)?;
    Ok(Some(Box::new(PolicyAgent::new(
        game,
        spec.to_string(),
        evaluator,
    ))))
}

/// Refuses settings of a search for an agent with 0 simulations.
fn refuse_search_settings(given: &NetworkSpec) -> Result<(), String> {
    let search = NetworkSpec {
        sims: None,
        sampling: None,
        tables: None,
        proof: None,
        kernel: None,
        ..given.clone()
    };
    match &pairs(&search)[..] {
        [] => Ok(()),
        [(key, _), ..] => Err(format!(
            "setting `{key}` configures the search, but sims=0 disables it; omit one of them"
        )),
    }
}

/// The network of a trained agent for this game.
fn network<G: Encode>(
    game: &G,
    spec: &AgentSpec,
    source: &AgentSource,
    kernel: Option<KernelKind>,
    sources: &dyn Sources<G>,
) -> Result<NetEvaluator<G>, AgentError> {
    let found = sources.network(game, source, kernel);
    let net = found.map_err(|error| AgentError::new(spec, error))?;
    let net = net.ok_or_else(|| {
        let kernel = kernel.map_or("", KernelKind::name);
        let problem = format!("setting kernel={kernel}: this processor cannot run that kernel");
        AgentError::new(spec, problem)
    })?;
    Ok(NetEvaluator::with_net(game.clone(), net))
}

/// An agent with an untrained network, for benchmarks.
pub fn random_net_agent<G: Encode + HasHeuristic>(
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

/// A tree agent with this evaluator. With a folder of exact tables, the search reads proven values from
/// them, and positions inside the tables are played perfectly without search.
fn tree_agent<G: Encode + HasHeuristic, E: Evaluator<G> + 'static>(
    game: G,
    spec: &AgentSpec,
    evaluator: E,
    settings: TreeSettings,
    tables: Option<&Path>,
    sources: &dyn Sources<G>,
) -> Result<Box<dyn Agent<G>>, AgentError> {
    let name = spec.to_string();
    let Some(folder) = tables else {
        return Ok(Box::new(TreeAgent::new(game, name, evaluator, settings)));
    };
    let tables = endgames(&game, spec, folder, sources)?;
    let evaluator = WithEndgames::new(game.clone(), tables.clone(), evaluator);
    let tree = TreeAgent::new(game.clone(), name.clone(), evaluator, settings);
    Ok(Box::new(EndgameAgent::new(
        game,
        name,
        tables,
        Box::new(tree),
    )))
}

fn endgames<G: Encode>(
    game: &G,
    spec: &AgentSpec,
    folder: &Path,
    sources: &dyn Sources<G>,
) -> Result<Arc<dyn Endgames<G>>, AgentError> {
    let found = sources.endgames(game, folder);
    found.map_err(|error| AgentError::new(spec, error))
}
