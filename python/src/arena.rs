//! `jarmo.arena`: agents play each other and are rated.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jarmo_exact::agent::{Agent, AgentError, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::arena::{
    Anchor, Budget, Expanded, Openings, Over, Pairing, Report, Settings, Team, Tournament, entrants, expand,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::agent::PlayerArgument;
use crate::game::{GameArgument, Rules};
use crate::number;
use crate::players::{RemoteAgent, RemotePlayers, with_functions};
use crate::threads;

/// Random plies of openings in games without a list of balanced ones.
const RANDOM_PLIES: u32 = 2;

/// A player by its name, which is a spec unless it is one of the functions.
struct Entry {
    name: String,
    function: Option<usize>,
}

/// How a tournament is played.
pub struct ArenaSettings {
    players: Vec<Entry>,
    games: u32,
    nodes: Option<u64>,
    random_plies: Option<u32>,
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

pub(crate) fn play<G: CatalogGame>(
    rules: &Arc<Rules<G>>,
    settings: &ArenaSettings,
    remote: RemotePlayers,
    stop: &AtomicBool,
) -> Result<ArenaText, String> {
    let game = &rules.game;
    let mut agents = Vec::new();
    let mut players = Vec::new();
    for Entry { name, function } in &settings.players {
        if let Some(function) = function {
            agents.push(Expanded { spec: name.clone(), checkpoint: None });
            players.push(Err((name, *function)));
            continue;
        }
        for mut agent in expand(name, 1).map_err(|error| error.to_string())? {
            let spec: AgentSpec = agent.spec.parse().map_err(|error| format!("{error}"))?;
            agent.spec = spec.to_string();
            agents.push(agent);
            players.push(Ok(spec));
        }
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
        budget: Budget { nodes: settings.nodes, movetime: None },
        anchor: anchor.transpose()?,
        ..Settings::default()
    };
    let tournament = Tournament::new(game, entrants(&agents), &openings, plan);
    let mut tournament = tournament.map_err(|error| error.to_string())?;
    let networks = Networks::new();
    let build = |player: &Result<AgentSpec, (&String, usize)>| match player {
        Ok(spec) => build_sharing(game.clone(), spec, &networks),
        Err((name, function)) => Ok(Box::new(RemoteAgent {
            rules: rules.clone(),
            name: (*name).clone(),
            function: *function,
            players: remote.clone(),
        }) as Box<dyn Agent<G>>),
    };
    let team = |_| players.iter().map(build).collect();
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

fn openings<G: CatalogGame>(game: &G, settings: &ArenaSettings, pairs: u32) -> Result<Openings<G::Position>, String> {
    let plies = settings.random_plies;
    if let Some(path) = &settings.openings {
        return Openings::from_file(game, path, plies).map_err(|error| error.to_string());
    }
    if plies.is_none()
        && let Some(balanced) = Openings::balanced(game, settings.seed)
    {
        return Ok(balanced);
    }
    let plies = plies.unwrap_or(RANDOM_PLIES);
    let openings = Openings::random(game, plies, pairs as usize, settings.seed);
    openings.map_err(|error| error.to_string())
}

/// Plays a tournament; returns the report as JSON, as text and as a picture. `jarmo.arena` wraps it.
#[pyfunction]
#[pyo3(signature = (agents, game, *, games=100, nodes=None, random_plies=None, openings=None, gauntlet=false,
                    anchor=None, seed=1, threads=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn arena(
    py: Python<'_>,
    agents: Vec<PlayerArgument>,
    game: GameArgument,
    #[pyo3(from_py_with = number::games)] games: u32,
    #[pyo3(from_py_with = number::nodes)] nodes: Option<u64>,
    #[pyo3(from_py_with = number::some_random_plies)] random_plies: Option<u32>,
    openings: Option<PathBuf>,
    gauntlet: bool,
    anchor: Option<String>,
    #[pyo3(from_py_with = number::seed)] seed: u64,
    #[pyo3(from_py_with = number::threads)] threads: Option<u32>,
) -> PyResult<(String, String, String)> {
    if !games.is_multiple_of(2) {
        return Err(PyValueError::new_err(format!(
            "games must be an even number of at least 2, because each opening is played from both sides, not {games}"
        )));
    }
    let mut functions = Vec::new();
    let mut players = Vec::with_capacity(agents.len());
    for player in &agents {
        player.check(&game.0)?;
        let function = player.function().map(|function| {
            functions.push(function.bind(py).clone());
            functions.len() - 1
        });
        let name = player.name(py);
        players.push(Entry { name, function });
    }
    let settings = ArenaSettings {
        players,
        games,
        nodes,
        random_plies,
        openings,
        gauntlet,
        anchor,
        seed,
        threads: threads::count(threads),
    };
    let stop = AtomicBool::new(false);
    let played = with_functions(py, &functions, &stop, |remote| game.0.clone().arena(&settings, remote, &stop))?;
    let ArenaText { json, text, svg } = played.map_err(PyValueError::new_err)?;
    Ok((json, text, svg))
}
