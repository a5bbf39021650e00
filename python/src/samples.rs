//! `jarmo.self_play`: samples of games that are searched with the user's function.

use std::sync::Arc;

use jarmo_core::env::Line;
use jarmo_core::game::Action;
use jarmo_exact::catalog::CatalogGame;
use jarmo_selfplay::replay::{Sample, Samples};
use jarmo_selfplay::selfplay::{Counts, Episode, GamesState, Round, SelfPlay as Games, SelfPlaySettings};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::{Deserialize, Serialize};

use crate::array::{column, filled, shaped, table};
use crate::ask::{Function, RemoteEvaluator};
use crate::game::{PyGame, Rules};
use crate::number;
use crate::position::Position;
use crate::refusal::{Checked, Refusal};
use crate::search::search_rule;
use crate::threads::{self, Caller, Closable, serve};

/// Self-play of a game whose type is not known.
pub trait AnySelfPlay: Send {
    /// Plays until there are at least so many samples, or the caller fails. Evaluations of earlier calls are forgotten,
    /// because the function may have learned since.
    fn play(&mut self, caller: &Caller, least: usize) -> Round;
    fn save(&self) -> GamesState;
    fn restore(&mut self, saved: &GamesState) -> Checked<()>;
    /// Where the samples of these games come from. The first game has this number.
    fn origins(&self, games: &[Episode], first: u64) -> Vec<Origin>;
}

/// Where a sample comes from.
pub struct Origin {
    game: u64,
    ply: u32,
    action: Action,
    value: f32,
    position: Position,
}

struct Played<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    games: Games<G, RemoteEvaluator<G>>,
    function: Arc<Function>,
    /// Its threads wait for answers, so they are not those that other calls use.
    pool: ThreadPool,
}

impl<G: CatalogGame> AnySelfPlay for Played<G> {
    fn play(&mut self, caller: &Caller, least: usize) -> Round {
        let Played { rules, games, function, pool } = self;
        games.replace_evaluators(evaluators(pool.current_num_threads(), rules, function, caller));
        pool.install(|| {
            let mut all = games.round();
            while all.samples.len() < least && !caller.has_failed() {
                all.add(games.round());
            }
            all
        })
    }

    fn save(&self) -> GamesState {
        self.games.save()
    }

    fn restore(&mut self, saved: &GamesState) -> Checked<()> {
        Ok(self.games.restore(saved)?)
    }

    fn origins(&self, games: &[Episode], first: u64) -> Vec<Origin> {
        let (rules, mut all) = (&self.rules, Vec::new());
        for (number, Episode { game, searches, .. }) in (first..).zip(games) {
            // The game is over, which `SavedGame::line` refuses; self-play begins all games at their start.
            let actions = game.actions.iter().map(|&index| Action(index)).collect();
            let line = Line::after(&rules.game, rules.game.start(), actions);
            let line = line.expect("self-play made it");
            let opening = line.actions.len() - searches.len();
            let positions = line.positions(&rules.game);
            let played = positions[opening..].iter().zip(&line.actions[opening..]);
            all.extend(played.zip(searches).map(|((&position, &action), search)| Origin {
                game: number,
                ply: rules.game.ply(&position),
                action,
                value: search.expected[0] - search.expected[2],
                position: Position::new(rules, position),
            }));
        }
        all
    }
}

pub(crate) fn build<G: CatalogGame>(
    rules: Arc<Rules<G>>,
    terms: &Terms,
    threads: usize,
    function: Arc<Function>,
) -> Checked<Box<dyn AnySelfPlay>> {
    let Terms { settings, seed, .. } = terms;
    let shards = threads.min(settings.games);
    let pool = ThreadPoolBuilder::new().num_threads(shards).build()?;
    let evaluators = evaluators(shards, &rules, &function, &Caller::default());
    let mut games = Games::new(&rules.game, settings, evaluators, *seed);
    games.keep_games();
    Ok(Box::new(Played { games, rules, function, pool }))
}

fn evaluators<G: CatalogGame>(
    shards: usize,
    rules: &Rules<G>,
    function: &Arc<Function>,
    caller: &Caller,
) -> Vec<RemoteEvaluator<G>> {
    let (game, function, caller) = (rules.game.clone(), function.clone(), caller.clone());
    vec![RemoteEvaluator { game, function, caller }; shards]
}

#[derive(Serialize, Deserialize)]
struct Saved {
    terms: Terms,
    counts: Counts,
    games: GamesState,
}

/// What must be the same where self-play is restored.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    format: u32,
    game: String,
    rules_version: u32,
    max_plies: u32,
    settings: SelfPlaySettings,
    seed: u64,
}

/// Increased whenever saved self-play changes its meaning.
const FORMAT: u32 = 1;

/// Self-play without end: each step of the iterator plays until at least ``min_samples`` positions of finished
/// games are there. See `jarmo.self_play`.
#[pyclass(frozen, module = "jarmo")]
pub struct SelfPlay {
    function: Arc<Function>,
    least: usize,
    terms: Terms,
    state: Closable<State>,
}

struct State {
    games: Box<dyn AnySelfPlay>,
    counts: Counts,
}

#[pymethods]
impl SelfPlay {
    #[new]
    #[pyo3(signature = (game, evaluate, *, games=512, simulations=32, root="gumbel", max_random_plies=0, value_lambda=1.0,
                        seed=0, threats=false, min_samples=1024, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        game: PyGame,
        evaluate: Py<PyAny>,
        #[pyo3(from_py_with = number::GAMES)] games: u32,
        #[pyo3(from_py_with = number::SIMULATIONS)] simulations: u32,
        root: &str,
        #[pyo3(from_py_with = number::RANDOM_PLIES)] max_random_plies: u32,
        value_lambda: f32,
        #[pyo3(from_py_with = number::SEED)] seed: u64,
        threats: bool,
        #[pyo3(from_py_with = number::MIN_SAMPLES)] min_samples: u32,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    ) -> PyResult<SelfPlay> {
        let games = games as usize;
        if !(0.0..=1.0).contains(&value_lambda) {
            return Err(PyValueError::new_err(format!("value_lambda must be 0 to 1, not {value_lambda}")));
        }
        let settings = SelfPlaySettings {
            games,
            simulations,
            root: search_rule(root, None, None, None, None)?,
            least_range: 0.0,
            max_random_plies,
            endgames: 0.0,
            endgame_force: 0,
            lambda: value_lambda,
        };
        let facts = game.0.facts();
        let terms = Terms {
            format: FORMAT,
            game: facts.name.to_owned(),
            rules_version: facts.rules_version,
            max_plies: facts.max_plies,
            settings,
            seed,
        };
        let function = Arc::new(Function { evaluate, facts: facts.clone(), threats, batch: games, pad: 0 });
        let games = game.0.clone().self_play(&terms, threads::count(threads), function.clone())?;
        let state = State { games, counts: Counts::default() };
        Ok(SelfPlay {
            function,
            least: min_samples as usize,
            terms,
            state: Closable::new("self-play", "already under way in another thread", state),
        })
    }

    fn __iter__(this: Py<SelfPlay>) -> Py<SelfPlay> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (played, origins) = self.state.with(|state| self.play(py, state))??;
        self.samples(py, &played.samples, &origins)
    }

    /// The unfinished games, between two steps of the iterator.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (counts, games) = self.state.with(|state| (state.counts, state.games.save()))?;
        let saved = Saved { terms: self.terms.clone(), counts, games };
        let bytes = serde_json::to_vec(&saved).expect("plain data");
        Ok(PyBytes::new(py, &bytes))
    }

    /// Continues exactly as the saved self-play would have, which must have had the same arguments. The number of
    /// threads may differ.
    fn restore(&self, saved: &[u8]) -> PyResult<()> {
        let wrong = |problem: String| PyValueError::new_err(format!("not this self-play: {problem}"));
        let saved: Saved = serde_json::from_slice(saved).map_err(|error| wrong(error.to_string()))?;
        if saved.terms != self.terms {
            let text = |terms| serde_json::to_string(terms).expect("plain data");
            let (theirs, ours) = (text(&saved.terms), text(&self.terms));
            return Err(wrong(format!("it was made with {theirs}, this one with {ours}")));
        }
        self.state.with(|state| {
            state.games.restore(&saved.games).map_err(|Refusal(problem)| wrong(problem))?;
            state.counts = saved.counts;
            Ok(())
        })?
    }

    /// Counts so far: finished ``games``, ``positions``, ``simulations`` and ``evaluations``; and means over
    /// finished games: ``white``, ``black``, ``drawn``, ``truncated`` and ``plies``.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.state.with(|state| state.counts)?;
        let dict = PyDict::new(py);
        let games = counts.per_game();
        dict.set_item("games", counts.games.games)?;
        dict.set_item("positions", counts.positions)?;
        dict.set_item("simulations", counts.simulations)?;
        dict.set_item("evaluations", counts.evaluations())?;
        dict.set_item("white", games.white)?;
        dict.set_item("black", games.black)?;
        dict.set_item("drawn", games.drawn)?;
        dict.set_item("truncated", games.truncated)?;
        dict.set_item("plies", games.plies)?;
        Ok(dict)
    }

    /// Gives the games and trees back. Every other call is an error from then on.
    fn close(&self) {
        self.state.close();
    }

    fn __enter__(this: Py<SelfPlay>) -> Py<SelfPlay> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyAny>) {
        self.close();
    }
}

impl SelfPlay {
    /// Plays until there are enough samples.
    fn play(&self, py: Python<'_>, state: &mut State) -> PyResult<(Round, Vec<Origin>)> {
        let State { games, counts } = state;
        let before = games.save();
        let played = serve(py, &Arc::default(), |caller| games.play(caller, self.least));
        // An interrupted round has no meaning, so all games go back to where they were.
        let played = played.inspect_err(|_| {
            let restored = games.restore(&before);
            restored.expect("these games were just saved");
        })?;
        let origins = games.origins(&played.episodes, counts.games.games);
        counts.add(&played.counts);
        Ok((played, origins))
    }

    fn samples<'py>(&self, py: Python<'py>, samples: &Samples, origins: &[Origin]) -> PyResult<Bound<'py, PyAny>> {
        let Function { facts, threats, .. } = &*self.function;
        let (width, actions) = (facts.width(*threats), facts.actions);
        let samples: Vec<Sample<'_>> = samples.iter().collect();
        let features = py.detach(|| {
            filled(&samples, width, 0.0_f32, |sample, row| {
                // Threats follow the features, and are left out where the width has no room for them.
                let within = sample.features.iter().filter(|&&index| usize::from(index) < width);
                within.for_each(|&index| row[usize::from(index)] = 1.0);
            })
        });
        let position = |one: &Origin| Ok(Bound::new(py, one.position.clone())?.into_any().unbind());
        // An array of objects, so that all fields are indexed alike.
        let positions = origins.iter().map(position).collect::<PyResult<Vec<Py<PyAny>>>>()?;
        let samples = (
            shaped(py, features, &facts.shape(samples.len(), *threats))?,
            table(py, &samples, actions, false, |sample, row| {
                sample.actions.iter().for_each(|&action| row[usize::from(action)] = true);
            })?,
            table(py, &samples, actions, 0.0, |sample, row| {
                let shares = sample.actions.iter().zip(sample.policy);
                shares.for_each(|(&action, &share)| row[usize::from(action)] = share);
            })?,
            table(py, &samples, 3, 0.0, |sample, row| row.copy_from_slice(&sample.result))?,
            column(py, &samples, |sample| sample.score),
            column(py, origins, |one| one.game as i64),
            column(py, origins, |one| one.ply as i32),
            column(py, origins, |one| i64::from(one.action.0)),
            column(py, origins, |one| one.value),
            PyArray1::from_vec(py, positions),
        );
        py.import("jarmo._types")?.call_method1("Samples", samples)
    }
}
