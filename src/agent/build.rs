//! From the text that names an agent to the agent.

use super::{
    Agent, AgentError, AgentKind, AgentSpec, GreedyAgent, RandomAgent, TreeAgent, TreeSettings,
};
use crate::catalog::CatalogGame;
use crate::eval::{Rollout, Uniform};
use crate::search::{Policy, PuctSettings};

/// Simulations of a rollout agent that names no number.
const ROLLOUT_SIMULATIONS: u32 = 1000;

/// Makes the agent that a spec names, for this game.
pub fn build<G: CatalogGame>(game: G, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, AgentError> {
    match &spec.kind {
        AgentKind::Random => Ok(Box::new(RandomAgent::new(game))),
        AgentKind::Greedy => Ok(Box::new(GreedyAgent::new(game))),
        AgentKind::Uniform => {
            let settings = TreeSettings::default().with_spec(spec)?;
            Ok(Box::new(TreeAgent::new(
                game,
                spec.to_string(),
                Uniform,
                settings,
            )))
        }
        AgentKind::Rollout => {
            let settings = TreeSettings {
                simulations: ROLLOUT_SIMULATIONS,
                policy: Policy::Puct(PuctSettings::default()),
                ..TreeSettings::default()
            };
            let settings = settings.with_spec(spec)?;
            let rollout = Rollout::new(game.clone());
            Ok(Box::new(TreeAgent::new(
                game,
                spec.to_string(),
                rollout,
                settings,
            )))
        }
        _ => Err(AgentError::new(spec, "random and greedy are all there is")),
    }
}
