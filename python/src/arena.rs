//! `jarmo.arena`: agents play each other and are rated.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use jarmo_exact::agent::{AgentError, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::arena::{
    Anchor, Budget, Openings, Over, Pairing, Report, Settings, Team, Tournament, entrants, expand,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::game::GameArgument;
use crate::threads::{self, interruptible};

/// Random plies of openings in games without a list of balanced ones.
const OPENING_PLIES: u32 = 2;

/// How a tournament is played.
pub struct ArenaSettings {
    agents: Vec<String>,
    games: u32,
    nodes: Option<u64>,
    opening_plies: Option<u32>,
    openings: Option<PathBuf>,
    gauntlet: bool,
    anchor: Option<String>,
    seed: u64,
    threads: usize,
}

/// The result of a tournament.
pub struct ArenaText {
    json: String,
    text: String,
    svg: String,
}

pub fn play<G: CatalogGame>(
    game: &G,
    settings: &ArenaSettings,
    stop: &AtomicBool,
) -> Result<ArenaText, String> {
    let mut agents = Vec::new();
    for text in &settings.agents {
        agents.extend(expand(text, 1).map_err(|error| error.to_string())?);
    }
    let mut specs: Vec<AgentSpec> = Vec::with_capacity(agents.len());
    for agent in &mut agents {
        let spec: AgentSpec = agent.spec.parse().map_err(|error| format!("{error}"))?;
        agent.spec = spec.to_string();
        specs.push(spec);
    }
    let pairs = settings.games / 2;
    let openings = openings(game, settings, pairs)?;
    let anchor = settings.anchor.as_deref().map(str::parse::<Anchor>);
    let plan = Settings {
        pairing: match settings.gauntlet {
            true => Pairing::Gauntlet,
            false => Pairing::RoundRobin,
        },
        pairs,
        seed: settings.seed,
        budget: Budget {
            nodes: settings.nodes,
            movetime: None,
        },
        anchor: anchor.transpose()?,
        ..Settings::default()
    };
    let tournament = Tournament::new(game, entrants(&agents), &openings, plan);
    let mut tournament = tournament.map_err(|error| error.to_string())?;
    let networks = Networks::new();
    let build = |spec| build_sharing(game.clone(), spec, &networks);
    let team = |_| specs.iter().map(build).collect();
    let teams: Result<Vec<Team<G>>, AgentError> = (0..settings.threads).map(team).collect();
    let teams = teams.map_err(|error| error.to_string())?;
    let played = tournament.play(teams, stop, &mut ());
    played.map_err(|error| error.to_string())?;
    let report = Report::new(tournament.standings());
    let title = format!("Ratings in {}", game.id());
    Ok(ArenaText {
        json: serde_json::to_string(&report).map_err(|error| error.to_string())?,
        text: report.to_text(usize::MAX),
        svg: report.to_svg(&title, Over::Steps),
    })
}

fn openings<G: CatalogGame>(
    game: &G,
    settings: &ArenaSettings,
    pairs: u32,
) -> Result<Openings<G::Position>, String> {
    let plies = settings.opening_plies;
    if let Some(path) = &settings.openings {
        return Openings::from_file(game, path, plies).map_err(|error| error.to_string());
    }
    if plies.is_none()
        && let Some(balanced) = Openings::balanced(game, settings.seed)
    {
        return Ok(balanced);
    }
    let plies = plies.unwrap_or(OPENING_PLIES);
    let openings = Openings::random(game, plies, pairs as usize, settings.seed);
    openings.map_err(|error| error.to_string())
}

/// Plays a tournament; returns the report as JSON, as text and as a picture. `jarmo.arena` wraps it.
#[pyfunction]
#[pyo3(signature = (agents, game, *, games=100, nodes=None, opening_plies=None, openings=None, gauntlet=false,
                    anchor=None, seed=1, threads=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn arena(
    py: Python<'_>,
    agents: Vec<String>,
    game: GameArgument,
    games: u32,
    nodes: Option<u64>,
    opening_plies: Option<u32>,
    openings: Option<PathBuf>,
    gauntlet: bool,
    anchor: Option<String>,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<(String, String, String)> {
    if games == 0 || !games.is_multiple_of(2) {
        return Err(PyValueError::new_err(format!(
            "games must be an even number of at least 2, because each opening is played from both sides, not {games}"
        )));
    }
    let settings = ArenaSettings {
        agents,
        games,
        nodes,
        opening_plies,
        openings,
        gauntlet,
        anchor,
        seed,
        threads: threads::count(threads)?,
    };
    let played = interruptible(py, |stop| game.0.arena(&settings, stop))?;
    let ArenaText { json, text, svg } = played.map_err(PyValueError::new_err)?;
    Ok((json, text, svg))
}
