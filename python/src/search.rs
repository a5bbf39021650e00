//! `jarmo.search`: many trees at once, evaluated by the user's function.

use std::sync::Arc;

use jarmo_core::search::{RootAction, SearchRule, SearchSettings};
use jarmo_facade::measure::BatchSearch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::agent::Agent;
use crate::array::{column, table};
use crate::ask::Function;
use crate::game::PyGame;
use crate::number;
use crate::position::open_positions_of;
use crate::threads::{self, serve};

/// The value of an action at a root, NaN if it is not known.
fn action_value(root: &RootAction) -> f32 {
    let proven = root.proven.map(|proven| proven.verdict.sign().into());
    proven.or(root.value.map(|value| value.expectation())).unwrap_or(f32::NAN)
}

/// The search rule with these settings, which are checked.
pub(crate) fn search_rule(settings: &SearchSettings) -> PyResult<SearchRule> {
    let rule = settings.rule(SearchRule::GUMBEL);
    if let Some((name, root)) = settings.misplaced(rule) {
        return Err(PyValueError::new_err(format!("{name} is a setting of root=\"{root}\"")));
    }
    if let Some((name, number, bounds)) = settings.out_of_bounds() {
        return Err(PyValueError::new_err(format!("{name} must be {bounds}, not {number}")));
    }
    Ok(rule)
}

/// Searches from ``N`` positions of one game with your own network, many trees at a time.
///
/// Args:
///     positions: Positions that are not over.
///     evaluate: Called as ``evaluate(features, masks)`` with new arrays, ``[B, planes, rows, columns]`` of ``float32``
///         and ``[B, actions]`` of ``bool``, in the thread of the caller. Returns ``(logits, values)``: ``[B,
///         actions]``, of which those of illegal actions are ignored, and the expected results for the player to move,
///         ``[B]`` from -1 to 1, or probabilities of win, draw and loss, ``[B, 3]``. Anything that ``numpy.asarray``
///         reads will do. The result for a position must not depend on the rest of the batch. Instead of a function, an
///         agent with a network is possible; ``threats``, ``batch`` and ``pad`` then have no effect.
///     simulations: Simulations per position.
///     root: Gumbel AlphaZero with sequential halving, or AlphaZero's PUCT.
///     noise: Noise at the roots, for self-play: Gumbel variables, or a Dirichlet distribution.
///     seed: The seed of the noise, by default a new one each time. Without noise nothing is random.
///     threats: Adds the threat planes to the features.
///     batch: The largest number of trees that a thread grows at a time, which is also the largest ``B``.
///     pad: Every batch has exactly ``batch`` rows, for networks that are compiled for a shape. Extra rows are zeros,
///         and their results are ignored.
///     threads: Threads that grow trees, by default one per core. With two, one grows its trees while the leaves of
///         the other are evaluated.
///     considered: Gumbel: actions that get simulations before the first halving [16].
///     least_range: Gumbel: values at a node that span less than this influence the policy proportionally less [0].
///     c_puct: PUCT: weight of exploration [1.25].
///     fpu: PUCT: an unvisited action starts at its parent's value minus up to this amount [0.2].
///     temperature: PUCT: softmax temperature of the priors [1].
///     min_visit_share: PUCT: actions with at least this share of the highest visit count compete by value for
///         ``actions``; with 1, the most visited action is chosen [1].
#[pyfunction]
#[pyo3(signature = (positions, evaluate, *, simulations=64, root="gumbel", noise=false, seed=None, threats=false,
                    batch=1024, pad=false, threads=None, considered=None, least_range=None, c_puct=None, fpu=None,
                    temperature=None, min_visit_share=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn search<'py>(
    positions: &Bound<'py, PyAny>,
    evaluate: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = number::SIMULATIONS)] simulations: u32,
    #[pyo3(from_py_with = number::ROOT)] root: &str,
    #[pyo3(from_py_with = number::NOISE)] noise: bool,
    #[pyo3(from_py_with = number::SOME_SEED)] seed: Option<u64>,
    #[pyo3(from_py_with = number::THREATS)] threats: bool,
    #[pyo3(from_py_with = number::BATCH)] batch: u32,
    #[pyo3(from_py_with = number::PAD)] pad: bool,
    #[pyo3(from_py_with = number::THREADS)] threads: Option<u32>,
    #[pyo3(from_py_with = number::CONSIDERED)] considered: Option<u32>,
    least_range: Option<f32>,
    c_puct: Option<f32>,
    fpu: Option<f32>,
    temperature: Option<f32>,
    min_visit_share: Option<f32>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = evaluate.py();
    let agent = evaluate.cast::<Agent>().ok();
    let (mut rules, positions) = open_positions_of(positions, None)?;
    if let (Some(agent), []) = (agent, &positions[..]) {
        rules = agent.get().game.clone();
    }
    let root = Some(number::root(root));
    let search = SearchSettings { root, considered, least_range, c_puct, fpu, temperature, min_visit_share };
    let plan = BatchSearch {
        simulations,
        rule: search_rule(&search)?,
        noise,
        seed: seed.map_or_else(|| number::entropy(py), Ok)?,
        threads: threads::count(threads),
    };
    let function = match agent {
        Some(agent) => Err(agent.get().net(&rules)?),
        None => {
            let evaluate = Arc::new(evaluate.clone().unbind());
            Ok(Function { evaluate, threats, batch: batch as usize, pad })
        }
    };
    let PyGame(game) = rules;
    let found = serve(py, &Arc::default(), |caller| {
        let net = function.map_or_else(|net| net, |function| function.net(caller));
        game.search(&positions, &plan, &net, caller.stop())
    })?;
    let actions = game.facts().version.shape.actions;
    let found = (
        column(py, &found, |one| i64::from(one.best.0)),
        table(py, &found, actions, 0.0, |one, row| row.copy_from_slice(&one.policy)),
        column(py, &found, |one| one.value),
        table(py, &found, actions, 0, |one, row| {
            one.actions.iter().for_each(|root| row[root.action.index()] = root.visits as i32); // at most the simulations
        }),
        table(py, &found, actions, f32::NAN, |one, row| {
            one.actions.iter().for_each(|root| row[root.action.index()] = action_value(root));
        }),
        column(py, &found, |one| one.proven),
        column(py, &found, |one| one.simulations as i32),
    );
    py.import("jarmo._types")?.call_method1("SearchResult", found)
}
