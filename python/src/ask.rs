//! The user's function as an evaluator. Search runs on threads of its own and sends its questions to the thread that
//! called from Python, which alone calls the function. So one thread's tree work overlaps with the evaluation of
//! another one's leaves, and settings of a thread, such as `torch.no_grad()`, hold.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use jarmo_core::eval::{Evaluation, Evaluator, Value};
use jarmo_core::game::Mask;
use jarmo_exact::catalog::CatalogGame;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::{describe, shaped};
use crate::game::Facts;
use crate::threads::TICK;

/// A batch of positions to evaluate.
pub struct Question {
    features: Vec<f32>, // [rows, planes, rows, columns]
    masks: Vec<bool>,   // [rows, actions]
    rows: usize,
    answer: Sender<Answer>, // dropped after an error
}

struct Answer {
    logits: Vec<f32>, // [rows, actions]
    values: Vec<Value>,
}

/// Sends positions to the thread that can call the user's function.
#[derive(Clone)]
pub struct Remote {
    questions: Sender<Option<Question>>, // `None` when the work is done
    threats: bool,
    batch: usize,
    failed: Arc<AtomicBool>,
}

impl Remote {
    /// Evaluators that prefer batches of this size, and the receiver of their questions.
    pub fn new(threats: bool, batch: usize) -> (Remote, Receiver<Option<Question>>) {
        let (questions, receiver) = mpsc::channel();
        let remote = Remote { questions, threats, batch, failed: Arc::default() };
        (remote, receiver)
    }

    /// Whether the function failed. Evaluations are meaningless from then on.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Marks the work as failed.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// The preferred batch size.
    pub fn batch(&self) -> usize {
        self.batch
    }
}

/// The evaluator of one thread.
#[derive(Clone)]
pub(crate) struct RemoteEvaluator<G> {
    game: G,
    remote: Remote,
}

impl<G> RemoteEvaluator<G> {
    pub(crate) fn new(game: G, remote: Remote) -> RemoteEvaluator<G> {
        RemoteEvaluator { game, remote }
    }
}

impl<G: CatalogGame> Evaluator<G> for RemoteEvaluator<G> {
    fn batch(&self) -> usize {
        self.remote.batch
    }

    fn evaluate(&mut self, positions: &[G::Position], _: &[u64], logits: &mut [f32], evaluations: &mut [Evaluation]) {
        let answer = match self.remote.has_failed() {
            true => None,
            false => self.ask(positions),
        };
        match answer {
            Some(answer) => {
                logits.copy_from_slice(&answer.logits);
                for (evaluation, value) in evaluations.iter_mut().zip(answer.values) {
                    *evaluation = Evaluation::of(value);
                }
            }
            None => {
                self.remote.fail();
                logits.fill(0.0);
                evaluations.fill(Evaluation::of(Value::EVEN));
            }
        }
    }
}

impl<G: CatalogGame> RemoteEvaluator<G> {
    fn ask(&self, positions: &[G::Position]) -> Option<Answer> {
        let (game, threats) = (&self.game, self.remote.threats);
        let width = match threats {
            true => game.input_count(),
            false => game.feature_count(),
        };
        let mut features = vec![0.0; positions.len() * width];
        for (position, row) in positions.iter().zip(features.chunks_exact_mut(width)) {
            game.set_features(position, row, threats);
        }
        let actions = game.actions();
        let mut masks = vec![false; positions.len() * actions];
        for (position, row) in positions.iter().zip(masks.chunks_exact_mut(actions)) {
            for action in game.legal(position).iter() {
                row[action.index()] = true;
            }
        }
        let (answer, answered) = mpsc::channel();
        let question = Question { features, masks, rows: positions.len(), answer };
        self.remote.questions.send(Some(question)).ok()?;
        answered.recv().ok()
    }
}

/// What the user's function is called with.
pub(crate) struct Asking<'a, 'py> {
    pub evaluate: &'a Bound<'py, PyAny>,
    pub facts: &'a Facts,
    pub remote: &'a Remote,
    /// Batches are filled up to this many rows with zeros and empty masks; 0 for no padding.
    pub pad: usize,
}

impl Asking<'_, '_> {
    /// Runs `work` on another thread and answers its questions until it is done.
    pub(crate) fn serve<T: Send>(
        &self,
        questions: &mut Receiver<Option<Question>>,
        work: impl FnOnce() -> T + Send,
    ) -> PyResult<T> {
        self.remote.failed.store(false, Ordering::Relaxed);
        let channel = (self.remote.questions.clone(), questions);
        let answer = |question: Question| {
            let answer = self.answer(question.features, question.masks, question.rows)?;
            let _ = question.answer.send(answer); // the evaluator waits for it
            Ok(())
        };
        serve(self.evaluate.py(), channel, &self.remote.failed, work, answer)
    }

    /// Calls the function and checks its answer.
    fn answer(&self, mut features: Vec<f32>, masks: Vec<bool>, rows: usize) -> PyResult<Answer> {
        let (py, actions) = (self.evaluate.py(), self.facts.actions);
        let padded = rows.max(self.pad);
        features.resize(padded * self.facts.width(self.remote.threats), 0.0);
        let mut shown = masks.clone();
        shown.resize(padded * actions, false);
        let features = shaped(py, features, &self.facts.shape(padded, self.remote.threats))?;
        let shown = shaped(py, shown, &[padded, actions])?;
        let given = self.evaluate.call1((features, shown))?;
        let both = given.cast::<PyTuple>().ok().filter(|both| both.len() == 2);
        let Some(both) = both else {
            let found = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("evaluate must return a tuple (logits, values), not {found}")));
        };
        let logits = floats(&both.get_item(0)?, "logits", &[padded, actions])?;
        let mut logits = logits.0;
        logits.truncate(rows * actions);
        for (index, (logit, legal)) in logits.iter().zip(&masks).enumerate() {
            if *legal && !logit.is_finite() {
                let (row, action) = (index / actions, index % actions);
                return Err(PyValueError::new_err(format!(
                    "evaluate: logits[{row}, {action}] is {logit}, and the action is legal; \
                     only illegal actions may have logits that are not finite"
                )));
            }
        }
        let values = read_values(&both.get_item(1)?, padded, rows)?;
        Ok(Answer { logits, values })
    }
}

/// Runs `work` on another thread and answers its questions on this one until it is done. After an error, or Ctrl-C,
/// `stop` is set, questions are dropped unanswered, and so is the result.
pub(crate) fn serve<Q: Send, T: Send>(
    py: Python<'_>,
    (finished, questions): (Sender<Option<Q>>, &mut Receiver<Option<Q>>),
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
    answer: impl Fn(Q) -> PyResult<()>,
) -> PyResult<T> {
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            let _ = finished.send(None); // the loop below waits for it
            result
        });
        let mut failure = None;
        loop {
            let questions = &mut *questions;
            let question = py.detach(move || questions.recv_timeout(TICK));
            if failure.is_none() {
                failure = py.check_signals().err();
            }
            match question {
                Ok(Some(question)) if failure.is_none() => failure = answer(question).err(),
                Ok(None) => break,
                Ok(Some(_)) | Err(_) => {}
            }
            if failure.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        let result = worker.join().expect("a panic is caught");
        match (failure, result) {
            (Some(error), _) => Err(error),
            (None, Ok(result)) => Ok(result),
            (None, Err(panic)) => resume_unwind(panic),
        }
    })
}

/// The numbers of an array of this shape, or of `[rows, 1]` or `[rows, 3]` where `[rows]` is asked for, with their
/// number per row.
fn floats(given: &Bound<'_, PyAny>, name: &str, shape: &[usize]) -> PyResult<(Vec<f32>, usize)> {
    let py = given.py();
    let array = py.import("numpy")?.call_method1("asarray", (given, "float32"))?;
    let untyped = array.cast::<PyUntypedArray>()?;
    let found = untyped.shape();
    let fits = match shape {
        [rows] => found == [*rows] || found == [*rows, 1] || found == [*rows, 3],
        _ => found == shape,
    };
    if !fits {
        let wanted = match shape {
            [rows] => format!("[{rows}], or [{rows}, 3] for win, draw and loss"),
            _ => format!("{shape:?}"),
        };
        return Err(PyValueError::new_err(format!(
            "evaluate: {name} must have shape {wanted}, not {}",
            describe(untyped)
        )));
    }
    if let Ok(array) = array.cast::<PyArray1<f32>>() {
        return Ok((array.try_readonly()?.as_array().iter().copied().collect(), 1));
    }
    let array = array.cast::<PyArray2<f32>>()?.try_readonly()?;
    let columns = array.shape()[1];
    let numbers = match array.as_slice() {
        Ok(numbers) => numbers.to_vec(),
        Err(_) => array.as_array().iter().copied().collect(),
    };
    Ok((numbers, columns))
}

/// The values of the first `rows` of `padded` positions.
fn read_values(given: &Bound<'_, PyAny>, padded: usize, rows: usize) -> PyResult<Vec<Value>> {
    const SLACK: f32 = 1e-3; // of rounding
    let (numbers, columns) = floats(given, "values", &[padded])?;
    let mut values = Vec::with_capacity(rows);
    for (row, numbers) in numbers.chunks_exact(columns).take(rows).enumerate() {
        let value = match *numbers {
            [value] if value.abs() <= 1.0 + SLACK => {
                let value = value.clamp(-1.0, 1.0);
                Value { win: (1.0 + value) / 2.0, draw: 0.0, loss: (1.0 - value) / 2.0, score: 0.0 }
            }
            [value] => {
                return Err(PyValueError::new_err(format!(
                    "evaluate: values[{row}] is {value}; a value is the expected result for the player to move, \
                     between -1 and 1"
                )));
            }
            [win, draw, loss]
                if [win, draw, loss].iter().all(|share| *share >= -SLACK)
                    && (win + draw + loss - 1.0).abs() <= 10.0 * SLACK =>
            {
                Value { win, draw, loss, score: 0.0 }
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "evaluate: values[{row}] is {numbers:?}; win, draw and loss must be probabilities"
                )));
            }
        };
        values.push(value);
    }
    Ok(values)
}
