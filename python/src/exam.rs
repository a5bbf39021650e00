//! `jarmo.exam`: how often an agent keeps the best result.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::accuracy::{Exam, Tally};
use pyo3::prelude::*;

use crate::game::{PyGame, Rules};
use crate::number;
use crate::players::Player;
use crate::refusal::Checked;
use crate::threads::{Caller, pool, serve};

/// Who is examined, and how.
pub struct ExamPlan {
    player: Player,
    file: Option<PathBuf>,
    nodes: Option<u64>,
    seed: u64,
}

/// Decisions and right ones, all and in critical positions, by phase; the whole exam comes first.
pub(crate) type ExamCounts = Vec<(&'static str, [u64; 4])>;

pub(crate) fn take<G: CatalogGame>(rules: &Arc<Rules<G>>, plan: &ExamPlan, caller: &Caller) -> Checked<ExamCounts> {
    let exam = open(&rules.game, plan.file.as_deref())?;
    let mut agents = plan.player.team(rules, caller, false)?;
    let score = pool().install(|| exam.take(&mut agents, plan.nodes, plan.seed)).score();
    let counts = |tally: &Tally| [tally.decisions, tally.right, tally.critical, tally.critical_right];
    let mut all = vec![("all", counts(&score.all))];
    all.extend(score.phases().map(|(phase, tally)| (phase.name(), counts(tally))));
    Ok(all)
}

/// The exam of a file, or that of the package.
pub(crate) fn open<G: CatalogGame>(game: &G, file: Option<&Path>) -> Checked<Exam<G>> {
    match file {
        Some(path) => Ok(Exam::load(game, path)?),
        None => Ok(Exam::built_in(game)
            .ok_or_else(|| format!("there is no exam for {} on this board in the package; give a file", game.id()))?),
    }
}

/// Examines an agent; returns the counts. `jarmo.exam` wraps it.
#[pyfunction]
#[pyo3(signature = (agent, game, *, file=None, nodes=None, seed=1))]
pub(crate) fn exam(
    py: Python<'_>,
    agent: Player,
    game: PyGame,
    file: Option<PathBuf>,
    #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
    #[pyo3(from_py_with = number::SEED)] seed: u64,
) -> PyResult<ExamCounts> {
    // An exam cannot be stopped half way; Ctrl-C is raised when it has ended.
    agent.check(&game.0)?;
    let plan = ExamPlan { player: agent, file, nodes, seed };
    Ok(serve(py, &Arc::default(), |caller| game.0.clone().exam(&plan, caller))??)
}
