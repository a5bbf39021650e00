//! The agent that draws its actions from the policy of another agent.

use rand::RngExt;

use super::{Agent, Decision, Request};
use crate::game::Game;
use crate::random::Stream;

/// Draws its actions from the policy of another agent, so that its games differ. The higher the temperature, the
/// weaker it plays.
pub struct SamplingAgent<G: Game> {
    agent: Box<dyn Agent<G>>,
    temperature: f32,
}

impl<G: Game> SamplingAgent<G> {
    /// With policy `p` of the other agent, an action's probability is proportional to `p^(1 / temperature)`.
    ///
    /// # Panics
    /// Panics unless the temperature is above 0.
    pub fn new(agent: Box<dyn Agent<G>>, temperature: f32) -> SamplingAgent<G> {
        assert!(temperature > 0.0, "the temperature must be above 0");
        SamplingAgent { agent, temperature }
    }

    /// Replaces the action by a drawn one, and moves its candidate to the front.
    fn draw(&self, decision: &mut Decision, stream: &mut Stream) {
        let candidates = &mut decision.candidates;
        let most = candidates.iter().map(|one| one.policy).fold(0.0, f32::max);
        let weight = |policy: f32| (policy / most).powf(1.0 / self.temperature);
        let all: f32 = candidates.iter().map(|one| weight(one.policy)).sum();
        let mut left = stream.random::<f32>() * all;
        let drawn = candidates.iter().position(|one| {
            left -= weight(one.policy);
            left < 0.0
        });
        // Because of rounding, `left` can stay positive after the last candidate. Then the best one is played.
        if let Some(drawn) = drawn {
            decision.action = candidates[drawn].action;
            candidates[..=drawn].rotate_right(1);
        }
    }
}

impl<G: Game> Agent<G> for SamplingAgent<G> {
    fn evaluations(&self) -> Option<u64> {
        self.agent.evaluations()
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let mut decisions = self.agent.choose(requests);
        for (decision, request) in decisions.iter_mut().zip(requests) {
            self.draw(decision, request.stream);
        }
        decisions
    }
}
