//! `jarmo.Run`: training by the library's own trainer. A run lives in its folder; Python holds a lock on it only while it
//! trains.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jarmo::Games;
use jarmo::config::Config;
use jarmo::facade::AnyGame;
use jarmo::observe::{Event, Facts, Metrics, RunView};
use jarmo::run::{self, Ended, RunFolder};
use jarmo::train::OpenDevice;
use jarmo_host::program;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::game::PyGame;
use crate::refusal::{Checked, Refusal};
use crate::threads::TICK;

/// Whether a run trains in this process: burn's automatic differentiation has one graph for all of them.
static IS_TRAINING: AtomicBool = AtomicBool::new(false);

/// The minimum time between two lines about the first samples.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Creates the folder of a new run. Settings are texts ``KEY=VALUE``.
#[pyfunction]
#[pyo3(signature = (folder, game, settings, from_agent=None))]
pub(crate) fn create_run(
    py: Python<'_>,
    folder: PathBuf,
    game: &str,
    settings: Vec<String>,
    from_agent: Option<PathBuf>,
) -> PyResult<()> {
    let create = || -> Checked<()> {
        program::announce(jarmo::cli::BUILD, "jarmo".as_ref(), None);
        let (games, game) = (Games::shipped(), Some(game));
        let first = from_agent.map(|from| run::first_agent(&games, game, &from, &[], &settings)).transpose()?;
        let (config, game) = run::plan(&games, game, first.as_ref(), &[], &settings)?;
        if let Some(agent) = &first {
            run::check_first(&*game, &config, agent).map_err(|error| format!("from_agent: {error}"))?;
        }
        RunFolder::create(&folder, &config, first.as_ref())?;
        Ok(())
    };
    Ok(py.detach(create)?)
}

/// The game of the run in a folder, and the path of its newest agent.
#[pyfunction]
pub(crate) fn read_run(folder: PathBuf) -> PyResult<(PyGame, Option<PathBuf>)> {
    let config = run::settings(&folder).map_err(Refusal::from)?;
    Ok((PyGame(open(&config)?), run::newest_agent(&folder)))
}

fn open(config: &Config) -> Checked<Arc<dyn AnyGame>> {
    Ok(Games::shipped().open(&config.game.name, &config.game.settings())?)
}

/// What a training says: a line of metrics (its step and JSON), a warning, or nothing of both; and a line of text.
type Told = (Option<(u64, String)>, Option<String>, Option<String>);

enum Message {
    Told(Told),
    Ended(Result<(), String>),
}

/// Trains the run in a folder on its own thread until a limit. After each event it waits until the event is taken.
#[pyclass(frozen, module = "jarmo._jarmo")]
pub struct Training {
    messages: Mutex<Option<Receiver<Message>>>, // `None` after the end
    stop: Arc<AtomicBool>,
}

#[pymethods]
impl Training {
    /// ``limits`` are texts such as ``run.steps=100``, which replace those of the run.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, limits: Vec<String>) -> PyResult<Training> {
        if IS_TRAINING.swap(true, Ordering::SeqCst) {
            return Err(PyRuntimeError::new_err(
                "a run is being trained in this process, and only one can be at a time; close() it first",
            ));
        }
        let work = Work(());
        let (teller, messages) = sync_channel(0);
        let stop = Arc::<AtomicBool>::default();
        let asked = stop.clone();
        py.detach(|| -> Checked<()> {
            let (folder, config) = RunFolder::open(&folder)?;
            run::check_network(&config)?;
            let config = config.with(&limits)?;
            let game = open(&config)?;
            // A plain thread: a learner must never run inside a thread pool.
            thread::Builder::new().name("training".to_owned()).spawn(move || {
                let ended = train(&*game, &config, folder, &teller, &asked);
                drop(work);
                let _ = teller.send(Message::Ended(ended)); // nobody waits for it after Ctrl-C
            })?;
            Ok(())
        })?;
        Ok(Training { messages: Mutex::new(Some(messages)), stop })
    }

    /// The next event: ``((step, metrics), warning, line)``, of which each may be None; None after the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Told>> {
        loop {
            let received = py.detach(|| {
                let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
                messages.as_ref().map(|messages| messages.recv_timeout(TICK))
            });
            let ended = match received {
                None => return Ok(None),
                Some(Ok(Message::Told(told))) => return Ok(Some(told)),
                Some(Ok(Message::Ended(ended))) => ended,
                Some(Err(RecvTimeoutError::Timeout)) => {
                    py.check_signals()?;
                    continue;
                }
                Some(Err(RecvTimeoutError::Disconnected)) => Err("the training failed; see standard error".to_owned()),
            };
            *self.messages.lock().unwrap_or_else(PoisonError::into_inner) = None;
            return ended.map(|()| None).map_err(PyRuntimeError::new_err);
        }
    }

    /// Saves and ends the training; events until then are dropped.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.stop.store(true, Ordering::Relaxed);
        while self.next(py)?.is_some() {}
        Ok(())
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// While it is there, no other run trains in this process.
struct Work(());

impl Drop for Work {
    fn drop(&mut self) {
        IS_TRAINING.store(false, Ordering::SeqCst);
    }
}

/// Trains until a limit is reached or `stop` is set. The folder is free again at the end.
fn train(
    game: &dyn AnyGame,
    config: &Config,
    folder: RunFolder,
    teller: &SyncSender<Message>,
    stop: &AtomicBool,
) -> Result<(), String> {
    let device = OpenDevice::cpu();
    let facts = Facts::of(game, config, folder.name(), device.kind());
    let (what, on, place) = (facts.what.clone(), facts.device.clone(), facts.folder.clone());
    let mut view = RunView::new(config, facts);
    let tell = |told: Told| {
        let _ = teller.send(Message::Told(told)); // the run continues if nobody listens
    };
    tell((None, None, Some(format!("{what}; {on}; {}; in {place}", view.limits_text()))));
    let (mut has_played, mut shown) = (false, None::<Instant>);
    let (mut last, mut final_match) = (None::<Metrics>, None);
    let each = |event: Event<'_>| {
        has_played |= matches!(event, Event::Played(..) | Event::Strength(_));
        view.note(&event);
        let json = |metrics: &Metrics| serde_json::to_string(metrics).expect("plain data");
        let metrics = match &event {
            // There are many of them, and each is worth a line for a person only.
            Event::Played(..) => {
                if shown.is_some_and(|shown| shown.elapsed() < LINE_EVERY) {
                    return;
                }
                shown = Some(Instant::now());
                None
            }
            Event::Warning(warning) => return tell((None, Some(warning.clone()), None)),
            Event::Metrics(metrics) => {
                last = Some((*metrics).clone());
                Some((metrics.step, json(metrics)))
            }
            Event::FinalMatch(step) => {
                final_match = Some(*step);
                None
            }
            // The run adds it to its last line.
            Event::Strength(strength) if final_match == Some(strength.step) => last.take().map(|mut metrics| {
                metrics.final_match = Some((*strength).clone());
                (metrics.step, json(&metrics))
            }),
            _ => None,
        };
        let line = view.event_line(&event);
        if metrics.is_some() || line.is_some() {
            tell((metrics, None, line));
        }
    };
    let ended = run::run(game, config, &folder, &device, None, stop, each).map_err(|error| error.to_string())?;
    if ended == Ended::Limit && !has_played {
        let limits: Vec<String> = config.run.limits().iter().map(|(most, what)| format!("{most} {what}")).collect();
        let which = if limits.len() == 1 { "its limit" } else { "one of its limits" };
        let limits = limits.join(", ");
        let warning =
            format!("nothing to do: the run has reached {which} ({limits}); give it a higher one, or 0 for none");
        tell((None, Some(warning), None));
    }
    Ok(())
}
