//! `jarmo.search`: many trees at once, evaluated by the user's function.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use jarmo_core::game::{Action, Game, Mask};
use jarmo_core::random::stream;
use jarmo_core::search::{Batch, GumbelSettings, PuctSettings, RootAction, SearchRule, Tree, TreeSize};
use jarmo_exact::catalog::CatalogGame;
use jarmo_selfplay::selfplay::draw_noise;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::Rng;

use crate::array::{column, table};
use crate::ask::{Function, RemoteEvaluator};
use crate::game::PyGame;
use crate::number;
use crate::position::open_positions_of;
use crate::threads::{self, Caller, serve};

/// Fewer trees than this are not worth a second thread.
const MIN_PER_THREAD: usize = 32;

/// How to search.
pub struct SearchPlan {
    pub simulations: u32,
    pub rule: SearchRule,
    pub noise: bool,
    pub seed: u64,
    pub threads: usize,
}

/// The result of a position.
pub struct Found {
    best: Action,
    policy: Vec<f32>, // [actions]
    value: f32,
    roots: Vec<RootAction>,
    proven: bool,
    simulations: u32,
}

/// Searches from positions that are not over. After an error of the evaluator the result is not complete.
pub(crate) fn run<G: CatalogGame>(
    game: &G,
    positions: &[G::Position],
    plan: &SearchPlan,
    function: &Arc<Function>,
    caller: &Caller,
) -> Vec<Found> {
    let shares = plan.threads.min(positions.len() / MIN_PER_THREAD).max(1);
    let share = positions.len().div_ceil(shares).max(1);
    thread::scope(|scope| {
        let parts = positions.chunks(share).enumerate().map(|(index, positions)| {
            let (game, function, caller) = (game.clone(), function.clone(), caller.clone());
            let evaluator = RemoteEvaluator { game, function, caller };
            scope.spawn(move || search_part(positions, index * share, plan, evaluator))
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Searches the positions from number `first` on, as many trees at a time as the evaluator prefers.
fn search_part<G: CatalogGame>(
    positions: &[G::Position],
    first: usize,
    plan: &SearchPlan,
    mut evaluator: RemoteEvaluator<G>,
) -> Vec<Found> {
    let (game, caller) = (&evaluator.game.clone(), evaluator.caller.clone());
    let width = evaluator.function.batch;
    let limit = TreeSize::for_simulations(game, plan.simulations);
    let mut batch = Batch::new(game);
    let mut trees: Vec<Tree<G>> = Vec::new();
    let mut found = Vec::with_capacity(positions.len());
    for (chunk, positions) in positions.chunks(width).enumerate() {
        trees.truncate(positions.len());
        for (tree, position) in trees.iter_mut().zip(positions) {
            tree.restart(*position);
        }
        for position in &positions[trees.len()..] {
            trees.push(Tree::new(game.clone(), plan.rule, limit, *position));
        }
        for (index, tree) in trees.iter_mut().enumerate() {
            prepare(tree, game, plan, first + chunk * width + index);
        }
        batch.search(&mut trees, &mut evaluator, |_| caller.has_failed());
        if caller.has_failed() {
            return found;
        }
        found.extend(trees.iter().map(|tree| read(tree, game)));
    }
    found
}

/// Plans the search of the position with this number, whose random numbers follow from the seed and the number.
fn prepare<G: Game>(tree: &mut Tree<G>, game: &G, plan: &SearchPlan, number: usize) {
    let mut random = stream(plan.seed, number as u64);
    let mut noise = Vec::new();
    if plan.noise {
        draw_noise(plan.rule, game.legal(tree.position()).count() as usize, &mut random, &mut noise);
    }
    tree.plan(plan.simulations, plan.simulations, &noise, random.next_u64());
}

/// The result of a tree.
fn read<G: Game>(tree: &Tree<G>, game: &G) -> Found {
    let mut policy = vec![0.0; game.actions()];
    tree.write_policy(&mut policy);
    Found {
        best: tree.best().expect("the root is evaluated"),
        policy,
        value: tree.value().expect("the root is evaluated").expectation(),
        roots: tree.root_actions(),
        proven: tree.proven().is_some(),
        simulations: tree.simulations_done(),
    }
}

/// The value of an action at a root, NaN if it is not known.
fn action_value(root: &RootAction) -> f32 {
    let proven = root.proven.map(|proven| proven.verdict.sign().into());
    proven.or(root.value.map(|value| value.expectation())).unwrap_or(f32::NAN)
}

/// The search rule by its name, with the settings that are given.
pub(crate) fn search_rule(
    root: &str,
    considered: Option<u32>,
    cpuct: Option<f32>,
    fpu: Option<f32>,
    temperature: Option<f32>,
) -> PyResult<SearchRule> {
    let (gumbel, puct) = (GumbelSettings::default(), PuctSettings::default());
    let rule = match root {
        "gumbel" => {
            SearchRule::Gumbel(GumbelSettings { considered: considered.unwrap_or(gumbel.considered).max(1), ..gumbel })
        }
        "puct" => SearchRule::Puct(PuctSettings {
            exploration: cpuct.unwrap_or(puct.exploration),
            unvisited_reduction: fpu.unwrap_or(puct.unvisited_reduction),
            temperature: temperature.unwrap_or(puct.temperature),
            ..puct
        }),
        _ => return Err(PyValueError::new_err(format!("root must be \"gumbel\" or \"puct\", not {root:?}"))),
    };
    if root != "gumbel" && considered.is_some() {
        return Err(PyValueError::new_err("considered is a setting of root=\"gumbel\""));
    }
    for (name, given, least) in [("cpuct", cpuct, 0.0), ("fpu", fpu, 0.0), ("temperature", temperature, 0.01)] {
        let Some(number) = given else {
            continue;
        };
        if root != "puct" {
            return Err(PyValueError::new_err(format!("{name} is a setting of root=\"puct\"")));
        }
        if !(least..=100.0).contains(&number) {
            return Err(PyValueError::new_err(format!("{name} must be {least} to 100, not {number}")));
        }
    }
    Ok(rule)
}

/// Searches from ``N`` positions of one game with your own network, many trees at a time.
///
/// Args:
///     positions: Positions that are not over.
///     evaluate: Called as ``evaluate(features, masks)`` with new arrays, ``[B, planes, rows, columns]`` of
///         ``float32`` and ``[B, actions]`` of ``bool``, in the thread of the caller. Returns ``(logits, values)``:
///         ``[B, actions]``, of which those of illegal actions are ignored, and the expected results for the player to
///         move, ``[B]`` from -1 to 1, or probabilities of win, draw and loss, ``[B, 3]``. Anything that
///         ``numpy.asarray`` reads will do. It must judge a position the same whatever the rest of the batch is.
///     simulations: Simulations per position.
///     root: Gumbel AlphaZero with sequential halving, or AlphaZero's PUCT.
///     noise: Noise at the roots, for self-play: Gumbel variables, or a Dirichlet distribution.
///     seed: The seed of the noise.
///     threats: Adds the planes of threats to the features.
///     batch: The most trees that a thread grows at a time, and so the largest ``B``.
///     pad: Every batch has exactly ``batch`` rows, for networks that are compiled for a shape. Rows in excess are
///         zeros, and their results are ignored.
///     threads: Threads that grow trees, by default one per core. With two, one grows its trees while the leaves of
///         the other are evaluated.
///     considered: Gumbel: actions that get simulations before the first halving [16].
///     cpuct: PUCT: weight of exploration [1.25].
///     fpu: PUCT: how far below its parent's value an unvisited action starts, at most [0.2].
///     temperature: PUCT: softmax temperature of the priors [1].
#[pyfunction]
#[pyo3(signature = (positions, evaluate, *, simulations=64, root="gumbel", noise=false, seed=0, threats=false,
                    batch=1024, pad=false, threads=None, considered=None, cpuct=None, fpu=None, temperature=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn search<'py>(
    positions: &Bound<'py, PyAny>,
    evaluate: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = number::SIMULATIONS)] simulations: u32,
    root: &str,
    noise: bool,
    #[pyo3(from_py_with = number::SEED)] seed: u64,
    threats: bool,
    #[pyo3(from_py_with = number::BATCH)] batch: u32,
    pad: bool,
    #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    #[pyo3(from_py_with = number::CONSIDERED)] considered: Option<u32>,
    cpuct: Option<f32>,
    fpu: Option<f32>,
    temperature: Option<f32>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = evaluate.py();
    let positions = open_positions_of(positions, None)?;
    // Without positions there is no game; nothing is searched then.
    let PyGame(game) = positions.first().map_or_else(PyGame::standard, |first| first.game.clone());
    let batch = batch as usize;
    let plan = SearchPlan {
        simulations,
        rule: search_rule(root, considered, cpuct, fpu, temperature)?,
        noise,
        seed,
        threads: threads::count(threads),
    };
    let (evaluate, facts) = (evaluate.clone().unbind(), game.facts().clone());
    let function = Arc::new(Function { evaluate, facts, threats, batch, pad: if pad { batch } else { 0 } });
    let found = serve(py, &Arc::default(), |caller| game.search(&positions, &plan, &function, caller))?;
    let actions = game.facts().actions;
    let found = (
        column(py, &found, |one| i64::from(one.best.0)),
        table(py, &found, actions, 0.0, |one, row| row.copy_from_slice(&one.policy))?,
        column(py, &found, |one| one.value),
        table(py, &found, actions, 0, |one, row| {
            one.roots.iter().for_each(|root| row[root.action.index()] = root.visits as i32); // at most the simulations
        })?,
        table(py, &found, actions, f32::NAN, |one, row| {
            one.roots.iter().for_each(|root| row[root.action.index()] = action_value(root));
        })?,
        column(py, &found, |one| one.proven),
        column(py, &found, |one| one.simulations as i32),
    );
    py.import("jarmo._types")?.call_method1("SearchResult", found)
}
