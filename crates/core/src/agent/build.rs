//! Builds agents from their specs.

use std::sync::Arc;

use super::spec::pairs;
use super::{
    Agent, AgentError, AgentSource, AgentSpec, AlphaBetaAgent, EndgameAgent, GreedyAgent, PolicyAgent, ProvenAgent,
    RandomAgent, SamplingAgent, Sources, TreeAgent, TreeSettings, TreeSpec, YesNo,
};
use crate::encode::Encode;
use crate::eval::{Evaluator, Rollout, Uniform, WithEndgames};
use crate::game::Game;
use crate::known::Endgames;
use crate::net::{KernelKind, NetEvaluator, NetSettings, NetShape, Weights};
use crate::random::stream;
use crate::search::{HasHeuristic, SearchRule};

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
            tree_agent(game, spec, given, Uniform, settings, sources)
        }
        AgentSpec::Rollout(given) => {
            let usual =
                TreeSettings { simulations: ROLLOUT_SIMULATIONS, rule: SearchRule::PUCT, ..TreeSettings::default() };
            let settings = usual.with(given).map_err(wrong)?;
            let rollout = Rollout::new(game.clone());
            tree_agent(game, spec, given, rollout, settings, sources)
        }
        AgentSpec::AlphaBeta(given) => {
            let (name, problem) = (spec.to_string(), no_evaluation(&game));
            let agent = AlphaBetaAgent::new(game, name, given).ok_or_else(|| wrong(problem))?;
            Ok(Box::new(agent))
        }
        AgentSpec::Network(source, given) => {
            let agent = if given.sims == Some(0) {
                refuse_search_settings(given).map_err(wrong)?;
                let evaluator = network(&game, spec, source, given.kernel, sources)?;
                let agent = PolicyAgent::new(game.clone(), spec.to_string(), evaluator);
                let tables = endgames(&game, spec, given, sources)?;
                with_tables(&game, spec, tables, Box::new(agent))
            } else {
                let settings = TreeSettings::network().with(given).map_err(wrong)?;
                let evaluator = network(&game, spec, source, given.kernel, sources)?;
                tree_agent(game.clone(), spec, given, evaluator, settings, sources)?
            };
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
fn sampling<G: Encode + HasHeuristic>(given: &TreeSpec, agent: Box<dyn Agent<G>>) -> Box<dyn Agent<G>> {
    match given.sampling {
        None => agent,
        Some(temperature) => Box::new(SamplingAgent::new(agent, temperature)),
    }
}

/// The agent, or with `proof=yes` one that first asks the program's own proof.
fn with_proof<G: Encode + HasHeuristic>(
    game: G,
    given: &TreeSpec,
    agent: Box<dyn Agent<G>>,
    sources: &dyn Sources<G>,
) -> Result<Box<dyn Agent<G>>, String> {
    if given.proof != Some(YesNo::Yes) {
        return Ok(agent);
    }
    let Some(proof) = sources.proof(&game) else {
        let game = game.id();
        return Err(format!("setting proof=yes: this program has no proof for this board of {game}"));
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
    let AgentSpec::Network(source, given) = spec else { return Ok(None) };
    let evaluator = network(&game, spec, source, given.kernel, sources)?;
    Ok(Some(Box::new(PolicyAgent::new(game, spec.to_string(), evaluator))))
}

/// Refuses settings of a search for an agent with 0 simulations.
fn refuse_search_settings(given: &TreeSpec) -> Result<(), String> {
    let search = TreeSpec { sims: None, sampling: None, tables: None, proof: None, kernel: None, ..given.clone() };
    match &pairs(&search)[..] {
        [] => Ok(()),
        [(key, _), ..] => {
            Err(format!("setting `{key}` configures the search, but sims=0 disables it; omit one of them"))
        }
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
    let net = sources.network(game, source, kernel).map_err(|error| AgentError::new(spec, error))?;
    Ok(NetEvaluator::with_net(game.clone(), net))
}

/// An agent with an untrained network, for benchmarks.
pub fn random_net_agent<G: Encode + HasHeuristic>(game: &G, settings: NetSettings, seed: u64) -> Box<dyn Agent<G>> {
    let weights = Weights::random(settings, NetShape::of(game), &mut stream(seed, 0));
    let evaluator = NetEvaluator::new(game.clone(), &weights);
    let name = "network of random weights".to_owned();
    Box::new(TreeAgent::new(game.clone(), name, evaluator, TreeSettings::default()))
}

/// A tree agent with this evaluator, which looks up exact tables where the spec names a folder of them.
fn tree_agent<G: Encode + HasHeuristic, E: Evaluator<G> + 'static>(
    game: G,
    spec: &AgentSpec,
    given: &TreeSpec,
    evaluator: E,
    settings: TreeSettings,
    sources: &dyn Sources<G>,
) -> Result<Box<dyn Agent<G>>, AgentError> {
    let (name, tables) = (spec.to_string(), endgames(&game, spec, given, sources)?);
    let agent: Box<dyn Agent<G>> = match &tables {
        None => Box::new(TreeAgent::new(game.clone(), name, evaluator, settings)),
        Some(tables) => {
            let evaluator = WithEndgames::new(game.clone(), tables.clone(), evaluator);
            Box::new(TreeAgent::new(game.clone(), name, evaluator, settings))
        }
    };
    Ok(with_tables(&game, spec, tables, agent))
}

/// The agent, or with tables one that plays positions inside them perfectly without search.
fn with_tables<G: Game>(
    game: &G,
    spec: &AgentSpec,
    tables: Option<Arc<dyn Endgames<G>>>,
    agent: Box<dyn Agent<G>>,
) -> Box<dyn Agent<G>> {
    match tables {
        None => agent,
        Some(tables) => {
            let (game, name) = (game.clone(), spec.to_string());
            Box::new(EndgameAgent::new(game, name, tables, agent))
        }
    }
}

/// The exact tables that a spec names.
fn endgames<G: Encode>(
    game: &G,
    spec: &AgentSpec,
    given: &TreeSpec,
    sources: &dyn Sources<G>,
) -> Result<Option<Arc<dyn Endgames<G>>>, AgentError> {
    let folder = given.tables.as_deref();
    folder.map(|folder| sources.endgames(game, folder)).transpose().map_err(|error| AgentError::new(spec, error))
}
