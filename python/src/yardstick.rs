//! `jarmo.yardstick`: how good a policy is by exact results, and the questions of exams as arrays.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarmo_core::game::{Action, Mask, Proven};
use jarmo_exact::catalog::{CatalogGame, GameSettings};
use jarmo_judge::yardstick::{Row, Yardstick, YardstickSettings, to_svg, to_text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{column, table};
use crate::exam;
use crate::game::{PyGame, Rules, named};
use crate::number;
use crate::players::Player;
use crate::position::Position;
use crate::refusal::Checked;
use crate::tables::{NO_PLIES, plies};
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
        let measured = pool().install(|| yardstick.measure(player.name.clone(), &mut agents, budget, with_worst_case));
        Ok(Row { nodes, ..measured })
    }))
}

/// The questions of an exam.
pub struct Questions {
    all: Vec<Question>,
    checksum: String,
    made: String,
}

struct Question {
    position: Position,
    results: Vec<(Action, Proven)>, // of the legal actions
    phase: i8,
    critical: bool,
}

pub(crate) fn questions<G: CatalogGame>(rules: &Arc<Rules<G>>, file: Option<&Path>) -> Checked<Questions> {
    let exam = exam::open(&rules.game, file)?;
    let all = exam.questions().iter().map(|question| Question {
        position: Position::new(rules, question.position),
        results: rules.game.legal(&question.position).iter().zip(question.results.iter().copied()).collect(),
        phase: question.phase as i8,
        critical: question.is_critical(),
    });
    Ok(Questions { all: all.collect(), checksum: exam.checksum(), made: exam.made().to_owned() })
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
    let Questions { all, checksum, made } = py.detach(|| game.0.clone().questions(file.as_deref()))?;
    let actions = game.0.facts().actions;
    let all = (
        all.iter().map(|one| one.position.clone()).collect::<Vec<_>>(),
        table(py, &all, actions, ILLEGAL, |one, row| {
            one.results.iter().for_each(|(action, proven)| row[action.index()] = proven.verdict.sign());
        })?,
        table(py, &all, actions, NO_PLIES, |one, row| {
            one.results.iter().for_each(|(action, proven)| row[action.index()] = plies(proven));
        })?,
        column(py, &all, |one| one.phase),
        column(py, &all, |one| one.critical),
        checksum,
        made,
    );
    Ok(all.into_pyobject(py)?.into_any())
}
