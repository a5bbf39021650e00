//! `jarmo.exam`: how often an agent keeps the best result.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jarmo_facade::AnyGame;
use jarmo_facade::measure::{AnyExam, Examinee};
use jarmo_judge::accuracy::{ExamScore, Tally, Watch};
use pyo3::prelude::*;

use crate::game::PyGame;
use crate::number;
use crate::players::Player;
use crate::refusal::Checked;
use crate::threads::{Caller, pool_for, serve};

/// A function of the user that is told the progress.
pub(crate) type Progress = Arc<Py<PyAny>>;

/// Follows a measurement: tells the user's function in the thread of the caller, and ends after its failure or Ctrl-C.
pub(crate) struct Following<'a> {
    caller: &'a Caller,
    progress: Option<Progress>,
    told: Mutex<Option<(&'static str, u64, Instant)>>,
}

impl Following<'_> {
    pub(crate) fn new(caller: &Caller, progress: Option<Progress>) -> Following<'_> {
        Following { caller, progress, told: Mutex::default() }
    }
}

impl Watch for Following<'_> {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(self.caller.stop())
    }

    fn progress(&self, part: &'static str, done: u64, total: u64) {
        const EVERY: Duration = Duration::from_millis(100);
        let Some(progress) = self.progress.clone() else { return };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let soon = told.is_some_and(|(last, before, when)| {
            last == part && (done <= before || done < total && when.elapsed() < EVERY)
        });
        if !soon {
            *told = Some((part, done, Instant::now()));
            self.caller.post(move |py| progress.call1(py, (part, done, total)).map(drop));
        }
    }
}

/// Decisions and right ones, all and in critical positions, by phase; the whole exam comes first.
type ExamCounts = Vec<(&'static str, [u64; 4])>;

fn counts(score: &ExamScore) -> ExamCounts {
    let counts = |tally: &Tally| [tally.decisions, tally.right, tally.critical, tally.critical_right];
    let phases = score.phases().map(|(phase, tally)| (phase.name(), counts(tally)));
    [("all", counts(&score.all))].into_iter().chain(phases).collect()
}

/// The exam of a file, or that of the package.
pub(crate) fn open(game: &dyn AnyGame, file: Option<&Path>) -> Checked<Arc<dyn AnyExam>> {
    let name = game.facts().name;
    let missing = || format!("there is no exam for {name} on this board in the package; give a file").into();
    game.exam(file)?.ok_or_else(missing)
}

/// Examines an agent; returns the counts. `jarmo.exam` wraps it.
#[pyfunction]
#[pyo3(signature = (agent, game, *, file=None, nodes=None, seed=1, threats=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn exam(
    py: Python<'_>,
    agent: Player,
    game: PyGame,
    file: Option<PathBuf>,
    #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
    #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
    threats: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<ExamCounts> {
    agent.check(&game)?;
    let seed = seed.map_or_else(|| number::entropy(py), Ok)?;
    let progress = progress.map(Arc::new);
    let counts = serve(py, &Arc::default(), |caller| -> Checked<ExamCounts> {
        let exam = open(&*game.0, file.as_deref())?;
        let plan = agent.plan(&game, caller, "agent", threats)?;
        let watch = Following::new(caller, progress);
        let pool = pool_for(agent.is_function());
        let plan = Examinee { agent: plan, budget: nodes, seed, threads: pool.current_num_threads() };
        let measured = pool.install(|| exam.measure(plan, false, &watch))?;
        match watch.is_stopped() {
            true => Err("the exam was stopped".into()),
            false => Ok(counts(&measured.accuracy.score())),
        }
    });
    Ok(counts??)
}
