//! `jarmo.exam`: how often an agent keeps the best result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jarmo_exact::agent::{Agent, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::program::cores;
use jarmo_judge::accuracy::{Exam, Phase, Tally};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::agent::PlayerArgument;
use crate::game::{GameArgument, Rules};
use crate::number;
use crate::players::{RemoteAgent, RemotePlayers, with_functions};
use crate::threads::pool;

/// Decisions and right ones, all and in critical positions, by phase; the whole exam comes first.
pub(crate) type ExamCounts = Vec<(&'static str, [u64; 4])>;

pub(crate) fn take<G: CatalogGame>(
    rules: &Arc<Rules<G>>,
    player: &str,
    remote: Option<RemotePlayers>,
    file: Option<&Path>,
    nodes: Option<u64>,
    seed: u64,
) -> Result<ExamCounts, String> {
    let game = &rules.game;
    let exam = open(game, file)?;
    let mut agents: Vec<Box<dyn Agent<G>>> = Vec::with_capacity(cores());
    if let Some(players) = remote {
        agents.push(Box::new(RemoteAgent { rules: rules.clone(), name: player.to_owned(), function: 0, players }));
    } else {
        let spec: AgentSpec = player.parse().map_err(|error| format!("{error}"))?;
        let networks = Networks::new();
        for _ in 0..cores() {
            let agent = build_sharing(game.clone(), &spec, &networks);
            agents.push(agent.map_err(|error| error.to_string())?);
        }
    }
    let score = pool().install(|| exam.take(&mut agents, nodes, seed)).score();
    let counts = |tally: &Tally| [tally.decisions, tally.right, tally.critical, tally.critical_right];
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

/// The exam of a file, or that of the package.
pub(crate) fn open<G: CatalogGame>(game: &G, file: Option<&Path>) -> Result<Exam<G>, String> {
    match file {
        Some(path) => Exam::load(game, path).map_err(|error| error.to_string()),
        None => Exam::built_in(game)
            .ok_or_else(|| format!("there is no exam for {} on this board in the package; give a file", game.id())),
    }
}

/// Examines an agent; returns the counts. `jarmo.exam` wraps it.
#[pyfunction]
#[pyo3(signature = (agent, game, *, file=None, nodes=None, seed=1))]
pub(crate) fn exam(
    py: Python<'_>,
    agent: PlayerArgument,
    game: GameArgument,
    file: Option<PathBuf>,
    #[pyo3(from_py_with = number::nodes)] nodes: Option<u64>,
    #[pyo3(from_py_with = number::seed)] seed: u64,
) -> PyResult<ExamCounts> {
    // An exam cannot be stopped half way; Ctrl-C is raised when it has ended.
    agent.check(&game.0)?;
    let functions = agent.function().into_iter();
    let functions: Vec<_> = functions.map(|function| function.bind(py).clone()).collect();
    let (name, is_function) = (agent.name(py), !functions.is_empty());
    let stop = AtomicBool::new(false);
    let taken = with_functions(py, &functions, &stop, |remote| {
        let remote = is_function.then_some(remote);
        let game = game.0.clone();
        game.exam(&name, remote, file.as_deref(), nodes, seed)
    })?;
    taken.map_err(PyValueError::new_err)
}
