//! `jarmo.yardstick`: how good a policy is by exact results, and the questions of exams as arrays.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarmo_core::game::Mask;
use jarmo_exact::catalog::{CatalogGame, GameSettings};
use jarmo_judge::yardstick::{Row, Yardstick, YardstickSettings, to_svg, to_text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::shaped;
use crate::exam;
use crate::game::{PyGame, Rules, named};
use crate::number;
use crate::players::Player;
use crate::position::Position;
use crate::refusal::Checked;
use crate::threads::{Caller, pool, serve};

/// The result of an illegal action in the arrays of an exam.
const ILLEGAL: i8 = -2;

/// Measures a player of a game whose type is not known, with this budget, and with the worst case or without.
pub(crate) type Measure = dyn Fn(&Player, &Caller, Option<u64>, bool) -> Checked<Row> + Send + Sync;

pub(crate) fn build<G: CatalogGame>(
    rules: Arc<Rules<G>>,
    settings: YardstickSettings,
    folder: Option<&Path>,
) -> Checked<Box<Measure>> {
    let game = &rules.game;
    let tables = match folder {
        Some(folder) => Some(game.open_endgames(folder)?),
        None => pool().install(|| game.quick_endgames())?,
    };
    let yardstick = Yardstick::new(game, settings, tables)?;
    Ok(Box::new(move |player, caller, nodes, with_worst_case| {
        // A function has its own budget, which is only noted.
        let budget = nodes.filter(|_| !player.is_function);
        let mut agents = player.team(&rules, caller, nodes == Some(0))?;
        let measured = pool().install(|| yardstick.measure(&mut agents, budget, with_worst_case));
        Ok(Row { nodes, ..measured })
    }))
}

/// The questions of an exam, in rows.
pub struct Questions {
    positions: Vec<Position>,
    results: Vec<i8>, // [questions, actions]
    plies: Vec<i32>,  // [questions, actions]
    phases: Vec<i8>,
    critical: Vec<bool>,
    checksum: String,
    made: String,
}

pub(crate) fn questions<G: CatalogGame>(rules: &Arc<Rules<G>>, file: Option<&Path>) -> Checked<Questions> {
    let game = &rules.game;
    let exam = exam::open(game, file)?;
    let actions = rules.facts.actions;
    let mut all = Questions {
        positions: Vec::with_capacity(exam.len()),
        results: vec![ILLEGAL; exam.len() * actions],
        plies: vec![-1; exam.len() * actions],
        phases: Vec::with_capacity(exam.len()),
        critical: Vec::with_capacity(exam.len()),
        checksum: exam.checksum(),
        made: exam.made().to_owned(),
    };
    for (row, question) in exam.questions().iter().enumerate() {
        all.positions.push(Position::new(rules, question.position));
        all.phases.push(question.phase as i8);
        all.critical.push(question.is_critical());
        let legal = game.legal(&question.position);
        for (action, proven) in legal.iter().zip(&question.results) {
            let place = row * actions + action.index();
            all.results[place] = proven.verdict.sign();
            all.plies[place] = proven.plies.map_or(-1, |plies| plies as i32);
        }
    }
    Ok(all)
}

/// What measures agents of a game: see `jarmo.yardstick`.
#[pyclass(frozen, name = "Yardstick", module = "jarmo._jarmo")]
pub struct PyYardstick {
    #[pyo3(get)]
    game: PyGame,
    measure: Box<Measure>,
}

#[pymethods]
impl PyYardstick {
    #[new]
    #[pyo3(signature = (game, *, tables=None, seed=1, fresh=2000, games=100, starts=50, positions=1000))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        game: PyGame,
        tables: Option<PathBuf>,
        #[pyo3(from_py_with = number::SEED)] seed: u64,
        fresh: u32,
        games: u32,
        starts: u32,
        positions: u32,
    ) -> PyResult<PyYardstick> {
        let settings = YardstickSettings { seed, fresh, games, starts, positions };
        let measure = serve(py, &Arc::default(), |_| game.0.clone().yardstick(settings, tables.as_deref()))??;
        Ok(PyYardstick { measure, game })
    }

    /// Measures a player; returns a row of the result as JSON. ``nodes`` is its budget, which for a function is only
    /// noted.
    #[pyo3(signature = (player, *, nodes=None, worst=true, name=None))]
    fn measure(
        &self,
        py: Python<'_>,
        player: Player,
        #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
        worst: bool,
        name: Option<String>,
    ) -> PyResult<String> {
        player.check(&self.game.0)?;
        let measured = serve(py, &Arc::default(), |caller| (self.measure)(&player, caller, nodes, worst))??;
        let row = Row { agent: name.unwrap_or(player.name), ..measured };
        Ok(serde_json::to_string(&row).expect("plain data"))
    }
}

fn read_row(json: &str) -> PyResult<Row> {
    let row = serde_json::from_str(json);
    row.map_err(|error| PyValueError::new_err(format!("not a result of the yardstick: {error}")))
}

/// Rows of results as text and as a picture.
#[pyfunction]
#[pyo3(signature = (rows, title))]
pub(crate) fn yardstick_report(rows: Vec<String>, title: &str) -> PyResult<(String, String)> {
    let rows: Vec<Row> = rows.iter().map(|json| read_row(json)).collect::<PyResult<_>>()?;
    Ok((to_text(&rows), to_svg(title, &rows)))
}

/// Marks the answers of a row once more; raises ``ValueError`` if they do not give its result.
#[pyfunction]
#[pyo3(signature = (row))]
pub(crate) fn yardstick_verify(row: &str) -> PyResult<()> {
    let row = read_row(row)?;
    Ok(named(&row.game, GameSettings::default())?.verify(&row)?)
}

/// The questions of an exam: positions, results and plies ``[N, actions]``, phases and critical ones ``[N]``, the
/// checksum, and how it was made.
#[pyfunction]
#[pyo3(signature = (game, file=None))]
pub(crate) fn exam_questions<'py>(py: Python<'py>, game: PyGame, file: Option<PathBuf>) -> PyResult<Bound<'py, PyAny>> {
    let all = py.detach(|| game.0.clone().questions(file.as_deref()))?;
    let (count, actions) = (all.positions.len(), game.0.facts().actions);
    let all = (
        all.positions,
        shaped(py, all.results, &[count, actions])?,
        shaped(py, all.plies, &[count, actions])?,
        shaped(py, all.phases, &[count])?,
        shaped(py, all.critical, &[count])?,
        all.checksum,
        all.made,
    );
    Ok(all.into_pyobject(py)?.into_any())
}
