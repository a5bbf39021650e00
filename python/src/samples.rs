//! `jarmo.self_play`: samples of games that are searched with the user's function.

use std::sync::Arc;

use jarmo_core::env::SavedRules;
use jarmo_core::game::{Action, AnyPosition};
use jarmo_core::ndarray::Array4;
use jarmo_core::search::SearchSettings;
use jarmo_facade::selfplay::AnySelfPlay;
use jarmo_selfplay::replay::{Sample, Samples};
use jarmo_selfplay::selfplay::{Counts, Episode, GamesState, Round, SelfPlaySettings};
use numpy::{IntoPyArray, PyArray1};
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::array::{column, table};
use crate::ask::Function;
use crate::game::PyGame;
use crate::number;
use crate::position::Position;
use crate::refusal::Checked;
use crate::search::search_rule;
use crate::threads::{self, Caller, Closable, Threads, serve};

/// Where a sample comes from.
struct Origin {
    game: u64,
    action: Action,
    value: f32,
    position: AnyPosition,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    terms: Terms,
    counts: Counts,
    games: GamesState,
}

/// What must be the same where self-play is restored.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Terms {
    format: u32,
    #[serde(flatten)]
    rules: SavedRules,
    settings: SelfPlaySettings,
    seed: u64,
}

/// Increased whenever saved self-play changes its meaning.
const FORMAT: u32 = 2;

/// Endless self-play: each iteration plays until there are at least ``min_samples`` positions of finished games. See
/// `jarmo.self_play`.
#[pyclass(frozen, module = "jarmo")]
pub struct SelfPlay {
    game: PyGame,
    threats: bool,
    least: usize,
    has_seed: bool, // it was given
    state: Closable<State>,
}

/// What self-play gives back when it is closed.
struct State {
    games: Box<dyn AnySelfPlay>,
    function: Function,
    threads: Threads, // they wait for answers of the function, so they are not those that other calls use; each has a shard
    counts: Counts,
    terms: Terms,
}

impl State {
    /// Plays until there are at least so many samples, or the caller fails. Evaluations of earlier calls are forgotten,
    /// because the function may have learned since.
    fn play(&mut self, caller: &Caller, least: usize) -> Checked<Round> {
        let State { games, function, threads, .. } = self;
        games.use_network(&function.net(caller));
        Ok(threads.get()?.install(|| {
            let mut all = games.round();
            while all.samples.len() < least && !caller.has_failed() {
                all.add(games.round());
            }
            all
        }))
    }
}

/// New games.
fn begin(game: &PyGame, terms: &Terms, function: &Function, shards: usize) -> Box<dyn AnySelfPlay> {
    let mut games = game.0.self_play(&terms.settings, &function.net(&Caller::default()), shards, terms.seed);
    games.keep_games();
    games
}

/// Self-play has no end, but an iterator that raises `StopIteration` ends without a word.
fn not_the_end(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyStopIteration>(py) {
        return error;
    }
    let failure = PyRuntimeError::new_err("evaluate raised StopIteration");
    failure.set_cause(py, Some(error));
    failure
}

/// Where the samples of these games come from. The first game has this number.
fn origins(game: &PyGame, games: &[Episode], first: u64) -> Vec<Origin> {
    let mut all = Vec::new();
    for (number, Episode { game: played, searches, .. }) in (first..).zip(games) {
        let opening = played.actions.len() - searches.len();
        let mut position = game.0.facts().start.clone(); // self-play begins all games there
        for (index, &action) in played.actions.iter().enumerate() {
            let action = Action(action);
            let next = game.0.after(&position, action).expect("self-play made it");
            if let Some(search) = index.checked_sub(opening).map(|index| &searches[index]) {
                let value = search.expected[0] - search.expected[2];
                all.push(Origin { game: number, action, value, position });
            }
            position = next;
        }
    }
    all
}

#[pymethods]
impl SelfPlay {
    #[new]
    #[pyo3(signature = (game, evaluate, *, games=512, simulations=32, root="gumbel", max_random_plies=0, value_lambda=1.0,
                        seed=None, threats=false, min_samples=1024, threads=None, considered=None, least_range=None,
                        c_puct=None, fpu=None, temperature=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        game: PyGame,
        evaluate: Py<PyAny>,
        #[pyo3(from_py_with = number::GAMES)] games: u32,
        #[pyo3(from_py_with = number::SIMULATIONS)] simulations: u32,
        #[pyo3(from_py_with = number::ROOT)] root: &str,
        #[pyo3(from_py_with = number::RANDOM_PLIES)] max_random_plies: u32,
        value_lambda: f32,
        #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
        #[pyo3(from_py_with = number::THREATS)] threats: bool,
        #[pyo3(from_py_with = number::MIN_SAMPLES)] min_samples: u32,
        #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
        #[pyo3(from_py_with = number::CONSIDERED)] considered: Option<u32>,
        least_range: Option<f32>,
        c_puct: Option<f32>,
        fpu: Option<f32>,
        temperature: Option<f32>,
    ) -> PyResult<SelfPlay> {
        let games = games as usize;
        if !(0.0..=1.0).contains(&value_lambda) {
            return Err(PyValueError::new_err(format!("value_lambda must be 0 to 1, not {value_lambda}")));
        }
        let (root, min_visit_share) = (Some(number::root(root)), None); // self-play draws its actions by visits
        let search = SearchSettings { root, considered, least_range, c_puct, fpu, temperature, min_visit_share };
        search_rule(&search)?;
        let settings = SelfPlaySettings {
            games,
            simulations,
            search,
            max_random_plies,
            endgames: 0.0,
            endgame_force: 0,
            lambda: value_lambda,
        };
        let facts = game.0.facts();
        let terms = Terms {
            format: FORMAT,
            rules: facts.saved.clone(),
            settings,
            seed: seed.map_or_else(|| number::entropy(py), Ok)?,
        };
        let function = Function { evaluate: Arc::new(evaluate), threats, batch: games, pad: false };
        let shards = threads::count(threads).min(games);
        let threads = Threads::start(shards)?;
        let games = begin(&game, &terms, &function, shards);
        let state = State { games, function, threads, counts: Counts::default(), terms };
        let busy = "already under way, in another thread or in a call that called this one";
        Ok(SelfPlay {
            game,
            threats,
            least: min_samples as usize,
            has_seed: seed.is_some(),
            state: Closable::new("self-play", busy, state),
        })
    }

    fn __iter__(this: Py<SelfPlay>) -> Py<SelfPlay> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.with(|state| {
            let games = &mut state.games; // exclusive, so that it may cross to a thread without Python's lock
            let before = py.detach(move || games.save());
            let made = self.play(py, state).map_err(|error| not_the_end(py, error));
            // An interrupted round has no meaning, so all games go back to where they were.
            let (samples, counts) =
                made.inspect_err(|_| state.games.restore(&before).expect("these games were just saved"))?;
            state.counts.add(&counts);
            Ok(samples)
        })?
    }

    /// The unfinished games, between two steps of the iterator.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = |State { games, counts, terms, .. }: &mut State| Saved {
            terms: terms.clone(),
            counts: *counts,
            games: games.save(),
        };
        let saved = self.state.with(saved)?;
        let bytes = serde_json::to_vec(&saved).expect("plain data");
        Ok(PyBytes::new(py, &bytes))
    }

    /// Continues exactly as the saved self-play would have. It must have had the same arguments, except the number of
    /// threads, and the seed if none was given.
    fn restore(&self, saved: &[u8]) -> PyResult<()> {
        let wrong = |problem: String| PyValueError::new_err(format!("not this self-play: {problem}"));
        let saved: Saved = serde_json::from_slice(saved).map_err(|error| wrong(error.to_string()))?;
        self.state.with(|state| {
            let mut terms = state.terms.clone();
            if !self.has_seed {
                terms.seed = saved.terms.seed;
            }
            if saved.terms != terms {
                let text = |terms| serde_json::to_string(terms).expect("plain data");
                let (theirs, ours) = (text(&saved.terms), text(&terms));
                return Err(wrong(format!("it was made with {theirs}, this one with {ours}")));
            }
            let mut games = begin(&self.game, &terms, &state.function, state.threads.get()?.current_num_threads());
            games.restore(&saved.games).map_err(|problem| wrong(problem.to_string()))?;
            (state.games, state.counts, state.terms) = (games, saved.counts, terms);
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

    /// Frees the games and trees, after an iteration that is running in another thread has ended. The function that
    /// evaluates cannot close its own self-play. After closing, every other call is an error.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.state.close(py)
    }

    fn __enter__(this: Py<SelfPlay>) -> Py<SelfPlay> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(exception.py())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.state.traverse(|state| visit.call(&*state.function.evaluate))
    }

    fn __clear__(&self) {
        self.state.give_back();
    }
}

impl SelfPlay {
    /// Plays until there are enough samples.
    fn play<'py>(&self, py: Python<'py>, state: &mut State) -> PyResult<(Bound<'py, PyAny>, Counts)> {
        let played = serve(py, &Arc::default(), |caller| state.play(caller, self.least))??;
        let first = state.counts.games.games;
        let origins = py.detach(|| origins(&self.game, &played.episodes, first));
        Ok((self.samples(py, &played.samples, &origins)?, played.counts))
    }

    fn samples<'py>(&self, py: Python<'py>, samples: &Samples, origins: &[Origin]) -> PyResult<Bound<'py, PyAny>> {
        let facts = self.game.0.facts();
        let actions = facts.version.shape.actions;
        let samples: Vec<Sample<'_>> = samples.iter().collect();
        let mut features = Array4::<f32>::zeros(facts.feature_shape(samples.len(), self.threats));
        py.detach(|| {
            for (sample, row) in samples.iter().zip(features.outer_iter_mut()) {
                let row = row.into_slice().expect("a row in C order");
                for &index in sample.features {
                    // Threats follow the features, and are left out where the row has no room for them.
                    if let Some(feature) = row.get_mut(usize::from(index)) {
                        *feature = 1.0;
                    }
                }
            }
        });
        let position = |one: &Origin| {
            let position = Position { game: self.game.clone(), at: one.position.clone() };
            Ok(Bound::new(py, position)?.into_any().unbind())
        };
        // An array of objects, so that all fields are indexed alike.
        let positions = origins.iter().map(position).collect::<PyResult<Vec<Py<PyAny>>>>()?;
        let samples = (
            features.into_pyarray(py),
            table(py, &samples, actions, false, |sample, row| {
                sample.actions.iter().for_each(|&action| row[usize::from(action)] = true);
            }),
            table(py, &samples, actions, 0.0, |sample, row| {
                let shares = sample.actions.iter().zip(sample.policy);
                shares.for_each(|(&action, &share)| row[usize::from(action)] = share);
            }),
            table(py, &samples, 3, 0.0, |sample, row| row.copy_from_slice(&sample.result)),
            column(py, &samples, |sample| sample.score),
            column(py, origins, |one| one.game as i64),
            column(py, origins, |one| one.position.ply as i32),
            column(py, origins, |one| i64::from(one.action.0)),
            column(py, origins, |one| one.value),
            PyArray1::from_vec(py, positions),
        );
        py.import("jarmo._types")?.call_method1("Samples", samples)
    }
}
