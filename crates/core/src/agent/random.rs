//! The agent that plays at random.

use rand::Rng;

use super::{Agent, Decision, Request};
use crate::game::Game;
use crate::random::any_of;

/// Plays every legal action with the same probability.
pub struct RandomAgent<G> {
    game: G,
}

impl<G: Game> RandomAgent<G> {
    /// An agent for this game.
    pub fn new(game: G) -> RandomAgent<G> {
        RandomAgent { game }
    }
}

impl<G: Game> Agent<G> for RandomAgent<G> {
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let choose = |request: &mut Request<'_, G>| {
            Decision::unsearched(any_of(&self.game.legal(&request.position), request.stream.next_u64()))
        };
        requests.iter_mut().map(choose).collect()
    }
}
