//! What the agents of runs do here: they take exams with search, and play each other.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::cli::interrupt::interrupted;
use crate::cli::measure::{Measuring, Watched};
use crate::cli::{Failure, in_file};
use jarmo_exact::agent::{AgentSource, AgentSpec, Networks, TreeSpec};
use jarmo_facade::measure::{AnyTournament, OpeningsPlan, TournamentPlan};
use jarmo_facade::{AgentPlan, AnyGame, Games};
use jarmo_host::program::cores;
use jarmo_host::run_folder::checkpoint_at;
use jarmo_judge::arena::{Entrant, Settings};
use jarmo_learn::config::Config;
use jarmo_learn::run::{Searched, Summary, open_exam, settings};

/// The simulations per decision of exams with search.
pub(crate) const EXAM_SIMULATIONS: u64 = 64;

/// The seed of the agents that take them.
pub(crate) const EXAM_SEED: u64 = 1;

/// Lets every run take the exam whose newest checkpoint has not, if there is an exam for its game. A run that cannot is
/// reported and left out.
pub(super) fn take_exams(games: &Games, runs: &mut [Summary]) -> Result<(), Failure> {
    let measuring = Measuring::new(None, EXAM_SEED)?;
    for run in runs {
        match take_exam(games, run, &measuring) {
            Err(Failure::Message(problem, _)) => eprintln!("warning: {}: {problem}", run.name),
            taken => taken?,
        }
        interrupted(&measuring.stop, "the exams so far are kept")?;
    }
    Ok(())
}

fn take_exam(games: &Games, run: &mut Summary, measuring: &Measuring) -> Result<(), Failure> {
    let Ok((step, agent)) = checkpoint_at(&run.folder, None) else { return Ok(()) }; // it has none yet
    if run.searched.as_ref().is_some_and(|known| (known.step, known.simulations) == (step, EXAM_SIMULATIONS)) {
        return Ok(());
    }
    let config = settings(&run.folder)?;
    let game = open_game(games, &config, &run.folder)?;
    let Some(exam) = open_exam(game.as_ref(), &config.evaluation)? else { return Ok(()) };
    let measure = |examinee, watch: &Watched<'_>| exam.measure(examinee, false, watch);
    let taken = measuring.run(&agent_in(agent), Some(EXAM_SIMULATIONS), measure)?;
    if !measuring.stop.load(Ordering::Relaxed) {
        let score = taken.accuracy.score();
        run.searched = Some(Searched { step, simulations: EXAM_SIMULATIONS, score }.keep(&run.folder)?);
    }
    Ok(())
}

/// The agent in a file.
pub(crate) fn agent_in(file: PathBuf) -> AgentPlan {
    AgentPlan::new(AgentSpec::Network(AgentSource::File(file), TreeSpec::default()), &Networks::new())
}

/// A tournament of agents with these names. The openings are random plies; without a number, the usual ones.
pub(crate) fn tournament(
    game: &dyn AnyGame,
    agents: Vec<(&str, AgentPlan)>,
    random_plies: Option<u32>,
    settings: Settings,
) -> Result<Box<dyn AnyTournament>, Failure> {
    let (names, agents): (Vec<_>, Vec<_>) = agents.into_iter().unzip();
    let entrant = |name: &str| Entrant { name: name.to_owned(), checkpoint: None };
    Ok(game.tournament(TournamentPlan {
        entrants: names.into_iter().map(entrant).collect(),
        agents: &agents,
        openings: OpeningsPlan::Usual(random_plies),
        settings,
        threads: cores(),
        tables: None,
    })?)
}

/// The game of a run.
pub(crate) fn open_game(games: &Games, config: &Config, run: &Path) -> Result<Arc<dyn AnyGame>, Failure> {
    games.open(&config.game.name, &config.game.settings()).map_err(|error| in_file(run, error))
}
