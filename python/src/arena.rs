//! `jarmo.arena`: agents play each other and are rated.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jarmo_exact::agent::{AgentError, AgentSpec, Networks, build_from};
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::arena::{
    Anchor, Budget, Expanded, Openings, Over, Pairing, Report, Settings, Team, Tournament, entrants, expand,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::game::{PyGame, Rules};
use crate::number;
use crate::players::Player;
use crate::refusal::Checked;
use crate::threads::{self, Caller, serve};

pub struct ArenaPlan {
    players: Vec<Player>,
    random_plies: Option<u32>,
    openings: Option<PathBuf>,
    settings: Settings,
    threads: usize,
}

/// The report of a tournament as JSON, as text and as a picture.
pub(crate) type ArenaTexts = (String, String, String);

pub(crate) fn play<G: CatalogGame>(
    rules: &Arc<Rules<G>>,
    plan: &ArenaPlan,
    caller: &Caller,
    stop: &AtomicBool,
) -> Checked<ArenaTexts> {
    let game = &rules.game;
    let mut agents = Vec::new();
    let mut players = Vec::new();
    for player in &plan.players {
        if player.is_function {
            agents.push(Expanded { spec: player.name.clone(), checkpoint: None });
            players.push(Err(player));
            continue;
        }
        for mut agent in expand(&player.name, 1)? {
            let spec: AgentSpec = agent.spec.parse()?;
            agent.spec = spec.to_string();
            agents.push(agent);
            players.push(Ok(spec));
        }
    }
    let Settings { pairs, seed, .. } = plan.settings;
    let openings = match &plan.openings {
        Some(path) => Openings::from_file(game, path, plan.random_plies)?,
        None => Openings::usual(game, plan.random_plies, pairs as usize, seed)?,
    };
    let mut tournament = Tournament::new(game, entrants(&agents), &openings, plan.settings.clone())?;
    let networks = Networks::new();
    let build = |player: &Result<AgentSpec, &Player>| match player {
        Ok(spec) => build_from(game.clone(), spec, &networks),
        Err(function) => Ok(function.as_agent(rules, caller).expect("it is a function")),
    };
    let team = |_| players.iter().map(build).collect();
    let teams: Result<Vec<Team<G>>, AgentError> = (0..plan.threads).map(team).collect();
    tournament.play(teams?, stop, &mut ())?;
    let report = Report::new(tournament.standings());
    let title = format!("Ratings in {}", game.id());
    let json = serde_json::to_string(&report)?;
    Ok((json, report.to_text(usize::MAX), report.to_svg(&title, Over::Steps)))
}

/// Plays a tournament; returns the report as JSON, as text and as a picture. `jarmo.arena` wraps it.
#[pyfunction]
#[pyo3(signature = (agents, game, *, games=100, nodes=None, random_plies=None, openings=None, gauntlet=false,
                    anchor=None, seed=1, threads=None))]
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
    #[pyo3(from_py_with = number::SEED)] seed: u64,
    #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
) -> PyResult<ArenaTexts> {
    if !games.is_multiple_of(2) {
        return Err(PyValueError::new_err(format!(
            "games must be an even number of at least 2, because each opening is played from both sides, not {games}"
        )));
    }
    agents.iter().try_for_each(|player| player.check(&game.0))?;
    let anchor = anchor.as_deref().map(str::parse::<Anchor>).transpose();
    let settings = Settings {
        pairing: if gauntlet { Pairing::Gauntlet } else { Pairing::RoundRobin },
        pairs: games / 2,
        seed,
        budget: Budget { nodes, movetime_ms: None },
        anchor: anchor.map_err(PyValueError::new_err)?,
        ..Settings::default()
    };
    let plan = ArenaPlan { players: agents, random_plies, openings, settings, threads: threads::count(threads) };
    let stop = Arc::default();
    Ok(serve(py, &stop, |caller| game.0.clone().arena(&plan, caller, &stop))??)
}
