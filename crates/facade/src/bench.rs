//! The speed of an erased game.

use crate::agent::AgentPlan;
use crate::erased::Erased;
use jarmo_core::agent::AgentError;
use jarmo_core::net::{FrozenNet, Weights};
use jarmo_exact::catalog::CatalogGame;
use jarmo_selfplay::bench::{self, EnvSpeed, NetSpeed, RunTime, SearchSpeed, SelfPlaySpeed};
use jarmo_selfplay::selfplay::SelfPlaySettings;

/// The part of [`AnyGame`](crate::AnyGame) that measures speed.
pub trait Bench: Send + Sync {
    /// The speed of random play: see [`bench::env`].
    fn bench_env(&self, games: usize, observe: bool, seed: u64, time: RunTime<'_>) -> EnvSpeed;

    /// The speed of an agent with this name: see [`bench::search`].
    fn bench_search(
        &self,
        name: String,
        agent: &AgentPlan,
        games: usize,
        nodes: Option<u64>,
        seed: u64,
        time: RunTime<'_>,
    ) -> Result<SearchSpeed, AgentError>;

    /// The speed of self-play: see [`bench::selfplay`].
    fn bench_self_play(
        &self,
        settings: &SelfPlaySettings,
        weights: &Weights,
        net: (String, FrozenNet),
        seed: u64,
        time: RunTime<'_>,
    ) -> SelfPlaySpeed;

    /// The speed of a network: see [`bench::net`].
    fn bench_net(
        &self,
        weights: &Weights,
        nets: Vec<(String, FrozenNet)>,
        batch: usize,
        seed: u64,
        time: RunTime<'_>,
    ) -> NetSpeed;
}

impl<G: CatalogGame> Bench for Erased<G> {
    fn bench_env(&self, games: usize, observe: bool, seed: u64, time: RunTime<'_>) -> EnvSpeed {
        bench::env(self.game.clone(), games, observe, seed, time)
    }

    fn bench_search(
        &self,
        name: String,
        agent: &AgentPlan,
        games: usize,
        nodes: Option<u64>,
        seed: u64,
        time: RunTime<'_>,
    ) -> Result<SearchSpeed, AgentError> {
        let mut agent = agent.build(&self.game)?;
        Ok(bench::search(&self.game, name, agent.as_mut(), games, nodes, seed, time))
    }

    fn bench_self_play(
        &self,
        settings: &SelfPlaySettings,
        weights: &Weights,
        net: (String, FrozenNet),
        seed: u64,
        time: RunTime<'_>,
    ) -> SelfPlaySpeed {
        bench::selfplay(&self.game, settings, weights, net, seed, time)
    }

    fn bench_net(
        &self,
        weights: &Weights,
        nets: Vec<(String, FrozenNet)>,
        batch: usize,
        seed: u64,
        time: RunTime<'_>,
    ) -> NetSpeed {
        bench::net(&self.game, weights, nets, batch, seed, time)
    }
}
