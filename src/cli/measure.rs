//! What commands that measure agents share: options, budgets, and the progress of each measurement.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rayon::ThreadPool;

use super::block::Progress;
use super::interrupt::stop_on_interrupt;
use super::{Failure, thread_pool};
use jarmo_core::numbers::{BUDGET, SEED, THREADS};
use jarmo_exact::agent::AgentSpec;
use jarmo_facade::AgentPlan;
use jarmo_facade::measure::{Budget, Examinee, MeasureError};
use jarmo_judge::accuracy::Watch;

#[derive(clap::Args)]
pub(super) struct MeasureArgs {
    /// The game: {games} [default: the one that the files are for, otherwise {first}]
    #[arg(long, value_name = "NAME")]
    pub game: Option<String>,
    /// Nodes or simulations per decision, several to compare; 0 uses the network of an agent file without search and
    /// skips other agents [default: the number in the agent's spec; for agent files also 0, or with `yardstick` 0, 64
    /// and 256]
    #[arg(
        long,
        visible_alias = "sims",
        value_name = "N,N…",
        value_delimiter = ',',
        value_parser = BUDGET.or_zero().parser::<u64>()
    )]
    pub nodes: Vec<u64>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = THREADS.parser::<usize>())]
    pub threads: Option<usize>,
    /// Seed of the agents and of random positions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    pub seed: u64,
    /// Print one JSON object per line for every agent and budget
    #[arg(long)]
    pub json: bool,
}

/// The budgets of an agent: those of `--nodes`, or the usual ones. Only agents with a network can have 0, and those that
/// are to play without search have no other.
pub(super) fn budgets(spec: &AgentSpec, nodes: &[u64], usual: Vec<Budget>) -> Vec<Budget> {
    if nodes.is_empty() {
        return usual;
    }
    let fits = |&nodes: &u64| if nodes == 0 { has_network(spec) } else { !plays_without_search(spec) };
    nodes.iter().copied().filter(fits).map(Some).collect()
}

/// Fails if `--nodes` leaves no agent a budget.
pub(super) fn check_nodes(agents: &[AgentSpec], nodes: &[u64]) -> Result<(), Failure> {
    if nodes.is_empty() || agents.iter().any(|agent| !budgets(agent, nodes, Vec::new()).is_empty()) {
        return Ok(());
    }
    if agents.iter().all(plays_without_search) {
        return Err(Failure::usage("with sims=0 an agent plays without search; leave out sims=0, or --nodes"));
    }
    Err(Failure::usage("--nodes 0 needs an agent with a network; give another number of nodes"))
}

/// Whether the spec of an agent asks for its network without search.
pub(super) fn plays_without_search(spec: &AgentSpec) -> bool {
    matches!(spec, AgentSpec::Network(_, tree) if tree.sims == Some(0))
}

pub(super) fn has_network(spec: &AgentSpec) -> bool {
    matches!(spec, AgentSpec::Network(..))
}

/// The name of a budget.
pub(super) fn budget_name(budget: Budget) -> String {
    match budget {
        Some(0) => "network".to_owned(),
        None => "as given".to_owned(),
        Some(nodes) => nodes.to_string(),
    }
}

/// Measures agents, and shows the progress.
pub(super) struct Measuring {
    pub pool: ThreadPool,
    pub seed: u64,
    pub stop: Arc<AtomicBool>,
}

impl Measuring {
    /// On this many threads; without a number, on all cores.
    pub(super) fn new(threads: Option<usize>, seed: u64) -> Result<Measuring, Failure> {
        Ok(Measuring { pool: thread_pool(threads)?, seed, stop: stop_on_interrupt()? })
    }

    /// Measures an agent with a budget. `stop` is set if Ctrl-C stopped that.
    pub(super) fn run<T>(
        &self,
        agent: &AgentPlan,
        budget: Budget,
        measure: impl FnOnce(Examinee, &Watched<'_>) -> Result<T, MeasureError> + Send,
    ) -> Result<T, MeasureError>
    where
        T: Send,
    {
        let what = budget.map_or_else(|| agent.to_string(), |_| format!("{agent}, {}", budget_name(budget)));
        let watch = Watched { what, progress: Progress::new(), stop: &self.stop };
        let threads = self.pool.current_num_threads();
        let examinee = Examinee { agent: agent.clone(), budget, seed: self.seed, threads };
        let measured = self.pool.install(|| measure(examinee, &watch));
        watch.progress.clear();
        measured
    }
}

/// Shows the progress of an agent with a budget. Ctrl-C stops it.
pub(super) struct Watched<'a> {
    what: String,
    progress: Progress,
    stop: &'a AtomicBool,
}

impl Watch for Watched<'_> {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(self.stop)
    }

    fn progress(&self, part: &'static str, done: u64, total: u64) {
        self.progress.show(done as f64 / total as f64, || format!("{}: {part}, {done} of {total}", self.what));
    }
}
