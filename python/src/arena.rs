//! `jarmo.arena`: agents play each other and are rated.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jarmo_exact::agent::{AgentSpec, Networks};
use jarmo_facade::AgentPlan;
use jarmo_facade::measure::{OpeningsPlan, TournamentPlan};
use jarmo_judge::arena::{Anchor, Budget, Expanded, Over, Pairing, Report, Settings, entrants, expand};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::game::PyGame;
use crate::number;
use crate::players::Player;
use crate::refusal::Checked;
use crate::threads::{self, Caller, serve};

struct ArenaPlan {
    players: Vec<Player>,
    random_plies: Option<u32>,
    openings: Option<PathBuf>,
    settings: Settings,
    threads: usize,
    threats: bool,
}

/// The report of a tournament as JSON, as text and as a picture.
pub(crate) type ArenaTexts = (String, String, String);

fn play(game: &PyGame, plan: ArenaPlan, caller: &Caller, stop: &AtomicBool) -> Checked<ArenaTexts> {
    let (mut expanded, mut agents) = (Vec::new(), Vec::new());
    let networks = Networks::new();
    for player in &plan.players {
        if player.is_function() {
            expanded.push(Expanded { spec: player.name.clone(), checkpoint: None });
            agents.push(player.plan(game, caller, "agents", plan.threats)?);
            continue;
        }
        for mut agent in expand(&player.name, 1)? {
            let spec: AgentSpec = agent.spec.parse()?;
            agent.spec = spec.to_string();
            expanded.push(agent);
            agents.push(AgentPlan::new(spec, player.networks(&networks)));
        }
    }
    let openings = match &plan.openings {
        Some(path) => OpeningsPlan::File(path, plan.random_plies),
        None => OpeningsPlan::Usual(plan.random_plies),
    };
    let mut tournament = game.0.tournament(TournamentPlan {
        entrants: entrants(&expanded),
        agents: &agents,
        openings,
        settings: plan.settings,
        threads: plan.threads,
        tables: None,
    })?;
    tournament.play(stop, &mut ())?;
    let report = Report::new(tournament.standings());
    let title = format!("Ratings in {}", game.0.facts().name);
    let json = serde_json::to_string(&report)?;
    Ok((json, report.to_text(usize::MAX), report.to_svg(&title, Over::Steps)))
}

/// Plays a tournament; returns the report as JSON, as text and as a picture. `jarmo.arena` wraps it.
#[pyfunction]
#[pyo3(signature = (agents, game, *, games=100, nodes=None, random_plies=None, openings=None, gauntlet=false,
                    anchor=None, seed=1, threads=None, threats=false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn arena(
    py: Python<'_>,
    agents: Vec<Player>,
    game: PyGame,
    #[pyo3(from_py_with = number::GAMES)] games: u32,
    #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
    #[pyo3(from_py_with = number::SOME_RANDOM_PLIES)] random_plies: Option<u32>,
    openings: Option<PathBuf>,
    gauntlet: bool,
    anchor: Option<String>,
    #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
    #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    threats: bool,
) -> PyResult<ArenaTexts> {
    if !games.is_multiple_of(2) {
        return Err(PyValueError::new_err(format!(
            "games must be an even number of at least 2, because each opening is played from both sides, not {games}"
        )));
    }
    agents.iter().try_for_each(|player| player.check(&game))?;
    let anchor = anchor.as_deref().map(str::parse::<Anchor>).transpose();
    let settings = Settings {
        pairing: if gauntlet { Pairing::Gauntlet } else { Pairing::RoundRobin },
        pairs: games / 2,
        seed: seed.map_or_else(|| number::entropy(py), Ok)?,
        budget: Budget { nodes, movetime_ms: None },
        anchor: anchor.map_err(PyValueError::new_err)?,
        ..Settings::default()
    };
    let plan =
        ArenaPlan { players: agents, random_plies, openings, settings, threads: threads::count(threads), threats };
    let stop = Arc::default();
    Ok(serve(py, &stop, |caller| play(&game, plan, caller, &stop))??)
}
