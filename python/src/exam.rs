//! `jarmo.exam`: how often an agent keeps the best result.

use std::path::{Path, PathBuf};

use jarmo_exact::agent::{Agent, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::program::cores;
use jarmo_judge::accuracy::{Exam, Phase, Tally};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::game::GameArgument;
use crate::threads::{interruptible, pool};

/// Decisions and right ones, all and in critical positions, by phase; the whole exam comes first.
pub type ExamCounts = Vec<(&'static str, [u64; 4])>;

pub fn take<G: CatalogGame>(
    game: &G,
    spec: &str,
    file: Option<&Path>,
    nodes: Option<u64>,
    seed: u64,
) -> Result<ExamCounts, String> {
    let exam = match file {
        Some(path) => Exam::load(game, path).map_err(|error| error.to_string())?,
        None => Exam::built_in(game).ok_or_else(|| {
            format!(
                "there is no exam for {} on this board in the package; give a file",
                game.id()
            )
        })?,
    };
    let spec: AgentSpec = spec.parse().map_err(|error| format!("{error}"))?;
    let networks = Networks::new();
    let agents = (0..cores()).map(|_| build_sharing(game.clone(), &spec, &networks));
    let agents: Result<Vec<Box<dyn Agent<G>>>, _> = agents.collect();
    let mut agents = agents.map_err(|error| error.to_string())?;
    let score = pool()
        .install(|| exam.take(&mut agents, nodes, seed))
        .score();
    let counts = |tally: &Tally| {
        [
            tally.decisions,
            tally.right,
            tally.critical,
            tally.critical_right,
        ]
    };
    let mut all = vec![("all", counts(&score.all))];
    for (phase, tally) in score.phases() {
        let name = match phase {
            Phase::Opening => "opening",
            Phase::Middle => "middle",
            Phase::End => "end",
        };
        all.push((name, counts(tally)));
    }
    Ok(all)
}

/// Examines an agent; returns the counts. `jarmo.exam` wraps it.
#[pyfunction]
#[pyo3(signature = (agent, game, *, file=None, nodes=None, seed=1))]
pub fn exam(
    py: Python<'_>,
    agent: &str,
    game: GameArgument,
    file: Option<PathBuf>,
    nodes: Option<u64>,
    seed: u64,
) -> PyResult<ExamCounts> {
    // An exam cannot be stopped half way; Ctrl-C is raised when it has ended.
    let taken = interruptible(py, |_| game.0.exam(agent, file.as_deref(), nodes, seed))?;
    taken.map_err(PyValueError::new_err)
}
