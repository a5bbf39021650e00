//! The agent that plays any legal action with equal probability.

use rand::Rng;

use super::{Agent, Decision, Request};
use crate::eval::Value;
use crate::game::Game;
use crate::random::any_of;

/// Plays any legal action with equal probability.
pub struct RandomAgent<G> {
    game: G,
}

impl<G: Game> RandomAgent<G> {
    /// A random player of this game.
    pub fn new(game: G) -> RandomAgent<G> {
        RandomAgent { game }
    }
}

impl<G: Game> Agent<G> for RandomAgent<G> {
    fn name(&self) -> &str {
        "random"
    }

    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        requests
            .iter_mut()
            .map(|request| {
                let legal = self.game.legal(&request.position);
                Decision {
                    action: any_of(&legal, request.stream.next_u64()),
                    value: Value::EVEN,
                    proven: None,
                    nodes: 0,
                    depth: 0,
                    candidates: Vec::new(),
                }
            })
            .collect()
    }
}
