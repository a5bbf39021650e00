//! What `jarmo accuracy` and `jarmo yardstick` share: options, budgets, and a watcher of each measurement.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Failure;
use super::block::Progress;
use jarmo_core::numbers::{SEED, THREADS};
use jarmo_exact::agent::AgentSpec;
use jarmo_facade::measure::Budget;
use jarmo_judge::accuracy::Watch;

#[derive(clap::Args)]
pub(super) struct MeasureArgs {
    /// The game: {games} [default: the one that the files are for, otherwise {first}]
    #[arg(long, value_name = "NAME")]
    pub game: Option<String>,
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

/// The budgets of an agent: those of `--nodes`, or the usual ones. Only agents with a network can have 0.
pub(super) fn budgets(spec: &AgentSpec, nodes: &[u64], usual: &[Budget]) -> Vec<Budget> {
    match (nodes, has_network(spec)) {
        ([], true) => usual.to_vec(),
        ([], false) => vec![None],
        (nodes, has_network) => {
            nodes.iter().filter(|&&nodes| nodes > 0 || has_network).map(|&nodes| Some(nodes)).collect()
        }
    }
}

/// Fails if `--nodes` leaves no agent a budget.
pub(super) fn check_nodes(agents: &[AgentSpec], nodes: &[u64]) -> Result<(), Failure> {
    if !nodes.is_empty() && nodes.iter().all(|&nodes| nodes == 0) && !agents.iter().any(has_network) {
        return Err(Failure::usage("--nodes 0 needs an agent with a network; give another number of nodes"));
    }
    Ok(())
}

fn has_network(spec: &AgentSpec) -> bool {
    matches!(spec, AgentSpec::Network(..))
}

/// The name of a budget.
pub(super) fn budget_name(budget: Budget) -> String {
    match budget {
        Some(0) => "network".to_owned(),
        None => "spec".to_owned(),
        Some(nodes) => nodes.to_string(),
    }
}

/// Shows the progress of an agent with a budget. Ctrl-C stops it.
pub(super) struct Watched {
    what: String,
    progress: Progress,
    stop: Arc<AtomicBool>,
}

impl Watched {
    pub(super) fn new(agent: &str, budget: Budget, stop: &Arc<AtomicBool>) -> Watched {
        Watched { what: format!("{agent}, {}", budget_name(budget)), progress: Progress::new(), stop: stop.clone() }
    }

    /// Removes the progress from the terminal.
    pub(super) fn clear(&self) {
        self.progress.clear();
    }
}

impl Watch for Watched {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(&self.stop)
    }

    fn progress(&self, part: &'static str, done: u64, total: u64) {
        self.progress.show(done as f64 / total as f64, || format!("{}: {part}, {done} of {total}", self.what));
    }
}
