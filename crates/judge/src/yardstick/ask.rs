//! Batches of positions for agents on several threads.

use rayon::prelude::*;

use crate::accuracy::choose;
use jarmo_core::game::{Action, Game};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::agent::Agent;

/// Agents that play alike, one per thread, and what they may spend.
pub(super) struct Asked<'a, G: Game> {
    pub agents: &'a mut [Box<dyn Agent<G>>],
    pub nodes: Option<u64>,
    pub seed: u64,
}

impl<G: Game> Asked<'_, G> {
    /// Their actions in these positions. The random numbers of each depend on the seed and its number alone.
    pub(super) fn choose(&mut self, positions: &[G::Position], numbers: &[u64]) -> Vec<Action> {
        let (nodes, seed) = (self.nodes, self.seed);
        let part = positions.len().div_ceil(self.agents.len()).max(1);
        let parts = positions.par_chunks(part).zip(numbers.par_chunks(part));
        let chosen = self.agents.par_iter_mut().zip(parts).flat_map_iter(|(agent, (positions, numbers))| {
            let mut streams: Vec<Stream> = numbers.iter().map(|&number| stream(seed, number)).collect();
            choose(agent.as_mut(), positions, &mut streams, nodes)
        });
        chosen.map(|decision| decision.action).collect()
    }
}
