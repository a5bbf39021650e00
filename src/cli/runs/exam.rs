//! Exams that the newest checkpoints of runs take with search.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::cli::interrupt::{interrupted, stop_on_interrupt};
use crate::cli::measure::Watched;
use crate::cli::{Failure, in_file, thread_pool};
use jarmo_exact::agent::{AgentError, AgentSpec, Networks};
use jarmo_facade::measure::{AnyExam, Examinee, Measured};
use jarmo_facade::{AgentPlan, AnyGame, Games};
use jarmo_host::run_folder::checkpoint_at;
use jarmo_judge::accuracy::Watch;
use jarmo_learn::config::Config;
use jarmo_learn::run::{Searched, Summary, keep_searched, open_exam, settings};

/// The simulations per decision of exams with search.
pub(crate) const EXAM_SIMULATIONS: u64 = 64;

/// Lets every run take the exam whose newest checkpoint has not, if there is an exam for its game. A run that cannot is
/// reported and left out.
pub(super) fn take_exams(games: &Games, runs: &mut [Summary]) -> Result<(), Failure> {
    let stop = stop_on_interrupt()?;
    for run in runs {
        match take_one(games, run, &stop) {
            Err(Failure::Message(problem, _)) => eprintln!("warning: {}: {problem}", run.name),
            taken => taken?,
        }
        interrupted(&stop, "the exams so far are kept")?;
    }
    Ok(())
}

fn take_one(games: &Games, run: &mut Summary, stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    let Ok((step, agent)) = checkpoint_at(&run.folder, None) else { return Ok(()) }; // it has none yet
    let is_known = |known: &Searched| (known.step, known.simulations) == (step, EXAM_SIMULATIONS);
    if run.searched.as_ref().is_some_and(is_known) {
        return Ok(());
    }
    let config = settings(&run.folder)?;
    let game = open_game(games, &config, &run.folder)?;
    let Some(exam) = open_exam(game.as_ref(), &config.evaluation)? else { return Ok(()) };
    if let Some(taken) = take(exam.as_ref(), &agent, EXAM_SIMULATIONS, false, stop)? {
        let result = Searched { step, simulations: EXAM_SIMULATIONS, score: taken.accuracy.score() };
        keep_searched(&run.folder, &result)?;
        run.searched = Some(result);
    }
    Ok(())
}

/// The game of a run.
pub(crate) fn open_game(games: &Games, config: &Config, run: &Path) -> Result<Arc<dyn AnyGame>, Failure> {
    games.open(&config.game.name, &config.game.settings()).map_err(|error| in_file(run, error))
}

/// Lets an agent file take an exam with this many simulations, on all cores; `None` if Ctrl-C stopped it.
pub(crate) fn take(
    exam: &dyn AnyExam,
    agent: &Path,
    simulations: u64,
    causes: bool,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Measured>, Failure> {
    const SEED: u64 = 1;
    let name = agent.display().to_string();
    let spec: AgentSpec = name.parse().map_err(|error: AgentError| in_file(agent, error))?;
    let pool = thread_pool(None)?;
    let watch = Watched::new(&name, Some(simulations), stop);
    let threads = pool.current_num_threads();
    let agent = AgentPlan::new(spec, &Networks::new());
    let examinee = Examinee { agent, budget: Some(simulations), seed: SEED, threads };
    let measured = pool.install(|| exam.measure(examinee, causes, &watch))?;
    watch.clear();
    Ok((!watch.is_stopped()).then_some(measured))
}
