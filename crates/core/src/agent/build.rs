//! Builds agents from their specs.

use std::path::Path;
use std::sync::Arc;

use super::spec::pairs;
use super::{
    Agent, AgentError, AgentSource, AgentSpec, AlphaBetaAgent, EndgameAgent, GreedyAgent, PolicyAgent, RandomAgent,
    SamplingAgent, Sources, TreeAgent, TreeSettings, TreeSpec, YesNo,
};
use crate::encode::Encode;
use crate::eval::{Evaluator, Rollout, Uniform, WithEndgames};
use crate::game::Game;
use crate::known::Endgames;
use crate::net::NetEvaluator;
use crate::search::{HasHeuristic, SearchRule};

/// Simulations of a rollout agent if the spec sets no number.
const ROLLOUT_SIMULATIONS: u32 = 1000;

/// Builds the agent of a spec for this game from these sources.
pub fn build_from<G: Encode + HasHeuristic>(
    game: G,
    spec: &AgentSpec,
    sources: &dyn Sources<G>,
) -> Result<Box<dyn Agent<G>>, AgentError> {
    Builder { game, sources }.agent(spec).map_err(|problem| AgentError::new(spec, problem))
}

/// Builds an agent that plays the policy of an agent file, without the search and tables of the spec. `None` for agents
/// without a network.
pub fn build_without_search<G: Encode + HasHeuristic>(
    game: G,
    spec: &AgentSpec,
    sources: &dyn Sources<G>,
) -> Result<Option<Box<dyn Agent<G>>>, AgentError> {
    let AgentSpec::Network(source, given) = spec else { return Ok(None) };
    let agent = Builder { game, sources }.policy(source, given);
    agent.map(Some).map_err(|problem| AgentError::new(spec, problem))
}

/// Builds agents. An error says what is wrong with its spec.
struct Builder<'a, G: Game> {
    game: G,
    sources: &'a dyn Sources<G>,
}

impl<G: Encode + HasHeuristic> Builder<'_, G> {
    fn agent(&self, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, String> {
        let game = self.game.clone();
        let no_evaluation = || {
            let game = self.game.id();
            format!(
                "{game} has no evaluation, which greedy and alphabeta need; use rollout:SIMULATIONS or a trained network"
            )
        };
        Ok(match spec {
            AgentSpec::Random => Box::new(RandomAgent::new(game)),
            AgentSpec::Greedy => Box::new(GreedyAgent::new(game).ok_or_else(no_evaluation)?),
            AgentSpec::AlphaBeta(given) => {
                let agent = AlphaBetaAgent::new(game, given).ok_or_else(no_evaluation)?;
                self.with_tables(self.tables(given.tables.as_deref())?, Box::new(agent))
            }
            AgentSpec::Uniform(given) => self.tree(given, TreeSettings::default(), || Ok(Uniform))?,
            AgentSpec::Rollout(given) => {
                let (simulations, rule) = (ROLLOUT_SIMULATIONS, SearchRule::PUCT);
                let usual = TreeSettings { simulations, rule, ..TreeSettings::default() };
                self.tree(given, usual, || Ok(Rollout::new(game)))?
            }
            AgentSpec::Network(source, given) => {
                let agent = if given.sims == Some(0) {
                    refuse_search_settings(given)?;
                    let agent = self.policy(source, given)?;
                    self.with_tables(self.tables(given.tables.as_deref())?, agent)
                } else {
                    self.tree(given, TreeSettings::network(), || self.network(source, given))?
                };
                self.with_proof(given, sampling(given, agent))?
            }
        })
    }

    /// The network of a trained agent.
    fn network(&self, source: &AgentSource, given: &TreeSpec) -> Result<NetEvaluator<G>, String> {
        let net = self.sources.network(&self.game, source, given.kernel)?;
        Ok(NetEvaluator::with_net(self.game.clone(), net))
    }

    /// An agent that plays the policy of a network.
    fn policy(&self, source: &AgentSource, given: &TreeSpec) -> Result<Box<dyn Agent<G>>, String> {
        let evaluator = self.network(source, given)?;
        Ok(Box::new(PolicyAgent::new(self.game.clone(), evaluator)))
    }

    /// A tree agent with this evaluator, which looks up exact tables where the spec names a folder of them.
    fn tree<E: Evaluator<G> + 'static>(
        &self,
        given: &TreeSpec,
        usual: TreeSettings,
        evaluator: impl FnOnce() -> Result<E, String>,
    ) -> Result<Box<dyn Agent<G>>, String> {
        let settings = usual.with(given)?;
        let evaluator = evaluator()?;
        let (game, tables) = (self.game.clone(), self.tables(given.tables.as_deref())?);
        let agent: Box<dyn Agent<G>> = match &tables {
            None => Box::new(TreeAgent::new(game, evaluator, settings)),
            Some(tables) => {
                let evaluator = WithEndgames::new(game.clone(), tables.clone(), evaluator);
                Box::new(TreeAgent::new(game, evaluator, settings))
            }
        };
        Ok(self.with_tables(tables, agent))
    }

    /// The exact tables that a spec names.
    fn tables(&self, folder: Option<&Path>) -> Result<Option<Arc<dyn Endgames<G>>>, String> {
        folder.map(|folder| self.sources.endgames(&self.game, folder)).transpose()
    }

    /// The agent, or with tables one that plays positions inside them perfectly without search.
    fn with_tables(&self, tables: Option<Arc<dyn Endgames<G>>>, agent: Box<dyn Agent<G>>) -> Box<dyn Agent<G>> {
        match tables {
            None => agent,
            Some(tables) => Box::new(EndgameAgent::new(self.game.clone(), tables, agent)),
        }
    }

    /// The agent, or with `proof=yes` one that first asks the program's own proof.
    fn with_proof(&self, given: &TreeSpec, agent: Box<dyn Agent<G>>) -> Result<Box<dyn Agent<G>>, String> {
        if given.proof != Some(YesNo::Yes) {
            return Ok(agent);
        }
        match self.sources.proof(&self.game) {
            Some(proof) => Ok(Box::new(EndgameAgent::by_proof(self.game.clone(), proof, agent))),
            None => {
                let game = self.game.id();
                Err(format!("setting proof=yes: this program has no proof for this board of {game}"))
            }
        }
    }
}

/// The agent, or with `sampling` one that draws its actions from the policy.
fn sampling<G: Game>(given: &TreeSpec, agent: Box<dyn Agent<G>>) -> Box<dyn Agent<G>> {
    match given.sampling {
        None => agent,
        Some(temperature) => Box::new(SamplingAgent::new(agent, temperature)),
    }
}

/// Rejects search settings for an agent with 0 simulations.
fn refuse_search_settings(given: &TreeSpec) -> Result<(), String> {
    let search = TreeSpec { sims: None, sampling: None, tables: None, proof: None, kernel: None, ..given.clone() };
    match &pairs(&search)[..] {
        [] => Ok(()),
        [(key, _), ..] => {
            Err(format!("setting `{key}` configures the search, but sims=0 disables it; omit one of them"))
        }
    }
}
