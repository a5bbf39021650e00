//! The agent that plays proven wins.

use std::sync::Arc;

use super::{Agent, Candidate, Decision, Request, complete};
use crate::game::{Game, Proven, Verdict};
use crate::known::Guide;

/// Plays proven wins, so that no reply can save the opponent. Another agent plays all other positions.
pub struct ProvenAgent<G: Game> {
    game: G,
    guide: Arc<dyn Guide<G>>,
    otherwise: Box<dyn Agent<G>>,
}

impl<G: Game> ProvenAgent<G> {
    /// An agent with the name of the agent that plays `otherwise`.
    pub fn new(game: G, guide: Arc<dyn Guide<G>>, otherwise: Box<dyn Agent<G>>) -> ProvenAgent<G> {
        ProvenAgent { game, guide, otherwise }
    }
}

impl<G: Game> Agent<G> for ProvenAgent<G> {
    fn name(&self) -> &str {
        self.otherwise.name()
    }

    fn evaluations(&self) -> Option<u64> {
        self.otherwise.evaluations()
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let decision = |request: &Request<'_, G>| {
            let (action, plies) = self.guide.next(&self.game, &request.position)?;
            let proven = Proven { verdict: Verdict::Win, plies };
            Some(Decision::of_one_ply(vec![Candidate::proven(action, proven)], 0))
        };
        let decisions = requests.iter().map(decision).collect();
        complete(decisions, requests, &mut *self.otherwise)
    }
}
