//! `jarmo.yardstick`: how good a policy is by exact results, and the questions of exams as arrays.

use std::path::PathBuf;
use std::sync::Arc;

use jarmo_core::game::{Action, AnyPosition, Proven};
use jarmo_facade::measure::{AnyYardstick, Examinee};
use jarmo_judge::accuracy::Question;
use jarmo_judge::yardstick::{Row, YardstickSettings, to_svg, to_text};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::{column, table};
use crate::exam::{self, Following};
use crate::game::PyGame;
use crate::number;
use crate::players::Player;
use crate::position::{Position, open_positions_of};
use crate::refusal::{Checked, Refusal};
use crate::tables::{NO_PLIES, plies};
use crate::threads::{abandon_on_interrupt, pool, pool_for, serve};

/// The result of an illegal action in the arrays of an exam.
const ILLEGAL: i8 = -2;

/// Measures agents of a game: see `jarmo.yardstick`.
#[pyclass(frozen, name = "Yardstick", module = "jarmo._jarmo")]
pub struct PyYardstick {
    /// The rules of the game.
    #[pyo3(get)]
    game: PyGame,
    yardstick: Arc<dyn AnyYardstick>,
    seed: u64,
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
        #[pyo3(from_py_with = number::FRESH)] fresh: u32,
        #[pyo3(from_py_with = number::PLAYED_STARTS)] games: u32,
        #[pyo3(from_py_with = number::STARTS)] starts: u32,
        #[pyo3(from_py_with = number::POSITIONS)] positions: u32,
    ) -> PyResult<PyYardstick> {
        let settings = YardstickSettings { seed, fresh, games, starts, positions };
        // The tables take seconds, and cannot be stopped.
        let rules = game.0.clone();
        let make = move || pool().install(|| rules.yardstick(settings, tables.as_deref()));
        let yardstick = abandon_on_interrupt(py, make)?.map_err(Refusal::from)?;
        Ok(PyYardstick { yardstick: yardstick.into(), game, seed })
    }

    /// Measures a player; returns a row of the result as JSON. ``nodes`` is its budget, which for a function is only
    /// noted.
    #[pyo3(signature = (player, *, nodes=None, threats=false, progress=None))]
    fn measure(
        &self,
        py: Python<'_>,
        player: Player,
        #[pyo3(from_py_with = number::NODES)] nodes: Option<u64>,
        threats: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        player.check(&self.game)?;
        let progress = progress.map(Arc::new);
        let row = serve(py, &Arc::default(), |caller| -> Checked<Row> {
            let agent = player.plan(&self.game, caller, "policy", threats)?;
            let pool = pool_for(player.is_function());
            let threads = pool.current_num_threads();
            let plan = Examinee { agent, budget: nodes, seed: self.seed, threads };
            let watch = Following::new(caller, progress);
            Ok(pool.install(|| self.yardstick.measure(player.name.clone(), plan, &watch))?)
        })??;
        Ok(to_json(&row))
    }

    /// Computes the measures of a row from its answers; raises ``ValueError`` if they differ. With ``solved`` it
    /// skips what a solver judged.
    #[pyo3(signature = (row, *, solved=false))]
    fn verify(&self, py: Python<'_>, row: &str, solved: bool) -> PyResult<()> {
        let mut row = read_row(row)?;
        if solved {
            row.check_seal().map_err(Refusal::from)?;
            row = row.of_exam();
        }
        let yardstick = Arc::clone(&self.yardstick);
        let verify = move || pool().install(|| yardstick.verify(&row));
        Ok(abandon_on_interrupt(py, verify)?.map_err(Refusal::from)?)
    }
}

fn to_json(row: &Row) -> String {
    serde_json::to_string(row).expect("plain data")
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

/// The rows of a file of results, one after another as JSON.
#[pyfunction]
#[pyo3(signature = (text))]
pub(crate) fn yardstick_rows(text: &str) -> PyResult<Vec<String>> {
    let rows = Row::read_all(text).map_err(Refusal::from)?;
    Ok(rows.iter().map(to_json).collect())
}

/// A row with the checksum of its content.
#[pyfunction]
#[pyo3(signature = (row))]
pub(crate) fn yardstick_seal(row: &str) -> PyResult<String> {
    Ok(to_json(&read_row(row)?.sealed()))
}

/// The actions that a function of the user chooses in positions of one game, checked. Errors name the argument.
#[pyfunction]
#[pyo3(signature = (policy, positions, *, threats=false))]
pub(crate) fn decide<'py>(policy: Player, positions: &Bound<'py, PyAny>, threats: bool) -> PyResult<Vec<u16>> {
    let (game, asked) = open_positions_of(positions, None)?;
    let policy = policy.policy(threats).ok_or_else(|| PyTypeError::new_err("policy must be a function"))?;
    let actions = policy.ask(positions.py(), "policy", &game, &asked)?;
    Ok(actions.into_iter().map(|action| action.0).collect())
}

/// The questions of an exam: positions, results and plies ``[N, actions]``, phases and critical ones ``[N]``, the
/// checksum, and how it was made.
#[pyfunction]
#[pyo3(signature = (game, file=None))]
pub(crate) fn exam_questions<'py>(py: Python<'py>, game: PyGame, file: Option<PathBuf>) -> PyResult<Bound<'py, PyAny>> {
    let exam = py.detach(|| exam::open(&*game.0, file.as_deref()))?;
    let questions = exam.questions();
    let results = |question: &Question<AnyPosition>| -> Vec<(Action, Proven)> {
        game.0.legal(&question.position).into_iter().zip(question.results.iter().copied()).collect()
    };
    let actions = game.0.facts().version.shape.actions;
    let position = |one: &Question<AnyPosition>| Position { game: game.clone(), at: one.position.clone() };
    let all = (
        questions.iter().map(position).collect::<Vec<_>>(),
        table(py, &questions, actions, ILLEGAL, |one, row| {
            results(one).iter().for_each(|(action, proven)| row[action.index()] = proven.verdict.sign());
        }),
        table(py, &questions, actions, NO_PLIES, |one, row| {
            results(one).iter().for_each(|(action, proven)| row[action.index()] = plies(proven));
        }),
        column(py, &questions, |one| one.phase as i8),
        column(py, &questions, Question::is_critical),
        exam.checksum(),
        exam.made(),
    );
    Ok(all.into_pyobject(py)?.into_any())
}
