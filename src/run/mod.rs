//! A training run from beginning to end: self-play, replay, learning, matches, checkpoints.
//!
//! A run goes in turns. In a turn games are played until a file of samples is full; meanwhile the
//! learner takes a fixed share of a step for every sample of the files before, and then the averaged
//! weights play on. Nothing here prints: whoever starts a run is told what happens.

mod folder;
mod matches;
mod turn;
mod window;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cpu_time::ProcessTime;
use rayon::ThreadPool;
use serde::{Deserialize, Serialize};

pub use folder::{RunFolder, checkpoint};

use crate::accuracy::{PolicyExam, Tally};
use crate::catalog::{CatalogGame, GameError};
use crate::config::Config;
use crate::encode::Mirror;
use crate::net::{AgentFile, GameVersion, NetShape, Provenance, Weights};
use crate::observe::{EventFile, Metrics, Strength};
use crate::program::this_program;
use crate::random::stream;
use crate::replay::{Replay, Samples};
use crate::selfplay::{GamesState, SelfPlay};
use crate::tables::Endgames;
use crate::train::{Learner, OpenDevice, TrainBatch};
use matches::Matches;
use turn::{BoxedEvaluator, FILE_SAMPLES, Learning, Playing, evaluators};
use window::{Bits, Totals, Window};

/// The stream of the run's seed that the first weights come from.
const WEIGHTS: u64 = u64::MAX;

/// Positions of exact tables that a network is asked about, the same ones in every run.
const EXAM_POSITIONS: usize = 4000;
const EXAM_SEED: u64 = 1;

/// Learning steps from one line of metrics to the next.
const METRICS_STEPS: u64 = 20;

/// Why a run cannot start or go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(String);

impl RunError {
    fn new(problem: impl fmt::Display) -> RunError {
        RunError(problem.to_string())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}

impl From<GameError> for RunError {
    fn from(error: GameError) -> RunError {
        RunError::new(error)
    }
}

/// What whoever watches a run is told.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Something went wrong that the run can do without.
    Warning(String),
    /// What the run does now, told when it starts something that takes a while.
    Doing(Activity),
    /// Games went on by one action each: so many samples so far, and what the next line of metrics
    /// will be like.
    Played(usize, &'a Metrics),
    /// A line of metrics, the same that is in the file.
    Metrics(&'a Metrics),
    /// Matches told how strong the run has become.
    Strength(&'a Strength),
    /// A checkpoint was written: its step and its agent file.
    Checkpoint(u64, &'a Path),
}

/// What takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Playing and learning.
    Training,
    /// Matches of the checkpoint of this step.
    Matches(u64),
}

/// Why a run ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// One of its limits was reached.
    Limit,
    /// Somebody asked it to stop.
    Stopped,
}

/// What a checkpoint holds beside the learner, the games and the samples in no file yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Counters {
    step: u64,
    owed: Bits, // learning steps, with a fraction, that the samples so far have a right to
    games: u64,
    positions: u64,
    next_file: u64, // of the replay window
    seconds: f64,   // spent so far
    #[serde(default)]
    cpu_seconds: f64, // of all threads
    window: Window,
    #[serde(default)]
    accuracy: Option<Tally>, // in no line of metrics yet
    #[serde(default)]
    strength: Option<Strength>, // in no line of metrics yet
    #[serde(default)]
    matches: Matches,
}

/// A run under way.
struct Run<'a, G: CatalogGame> {
    config: &'a Config,
    folder: &'a RunFolder,
    game: G,
    pool: ThreadPool,
    threads: usize,
    device: OpenDevice,
    play: SelfPlay<G, BoxedEvaluator<G>>,
    replay: Replay,
    pending: Samples, // in no file yet
    learner: Learner,
    batch: TrainBatch,
    mirror: Option<Mirror>,
    exam: Option<PolicyExam<G>>,
    events: Option<EventFile>, // none after it could not be written
    counters: Counters,
    saved: Option<u64>, // positions searched at the last checkpoint
    clock: Clock,
}

/// The time that a run takes, earlier parts included.
#[derive(Clone, Copy)]
struct Clock {
    earlier: [f64; 2], // seconds, and those of the processor
    started: Instant,
    cpu_started: ProcessTime,
}

impl Clock {
    /// Goes on from what was counted before.
    fn after(counters: &Counters) -> Clock {
        Clock {
            earlier: [counters.seconds, counters.cpu_seconds],
            started: Instant::now(),
            cpu_started: ProcessTime::now(),
        }
    }

    fn seconds(&self) -> f64 {
        self.earlier[0] + self.started.elapsed().as_secs_f64()
    }

    /// Of all threads together.
    fn cpu_seconds(&self) -> f64 {
        self.earlier[1] + self.cpu_started.elapsed().as_secs_f64()
    }
}

/// Runs until a limit is reached or `stop` is set; then, and every so often, writes a checkpoint.
/// A folder with a checkpoint goes on from there.
pub fn run<G: CatalogGame>(
    game: G,
    config: &Config,
    folder: &RunFolder,
    device: &OpenDevice,
    stop: &AtomicBool,
    mut tell: impl FnMut(Event<'_>),
) -> Result<Ended, RunError> {
    let mut run = Run::start(game, config, folder, device, &mut tell)?;
    loop {
        if stop.load(Ordering::Relaxed) {
            run.checkpoint(&mut tell)?;
            return Ok(Ended::Stopped);
        }
        let step = run.learner.steps();
        if run.counters.matches.are_due(&config.evaluation, step) {
            run.evaluate(stop, &mut tell)?;
            continue;
        }
        if run.is_finished() {
            run.complete_metrics()?;
            run.checkpoint(&mut tell)?;
            return Ok(Ended::Limit);
        }
        run.turn(stop, &mut tell)?;
        let after = run.learner.steps();
        let passed = |every: u64| after / every > step / every;
        if passed(config.run.checkpoint) {
            run.examine(&mut tell);
        }
        if passed(METRICS_STEPS) {
            run.write_metrics(&mut tell)?;
        }
        if passed(config.run.checkpoint) {
            run.checkpoint(&mut tell)?;
        }
    }
}

/// Refuses settings that do not fit the game, before anything is written or learned.
pub fn check<G: CatalogGame>(game: &G, config: &Config) -> Result<(), RunError> {
    let tables = config.selfplay.open_tables(game);
    tables.map_err(RunError::new)?;
    exam_tables(game, config)?;
    matches::check(game, &config.evaluation)
}

impl<'a, G: CatalogGame> Run<'a, G> {
    fn start(
        game: G,
        config: &'a Config,
        folder: &'a RunFolder,
        device: &OpenDevice,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<Run<'a, G>, RunError> {
        matches::check(&game, &config.evaluation)?; // tables are opened below
        let shape = NetShape::of(&game);
        let origin = GameVersion::of(&game);
        let seed = config.run.seed;
        let saved = folder.load_checkpoint(&origin)?;
        let next_file = saved.as_ref().map_or(0, |saved| saved.counters.next_file);
        let (replay, warnings) = folder.open_replay(next_file, config.replay, origin)?;
        for warning in warnings {
            tell(Event::Warning(warning));
        }
        let (learner, pending, games, counters) = match saved {
            Some(saved) => {
                let learner = Learner::from_bytes(config.learner, &saved.learner)
                    .map_err(|error| folder.broken(error))?;
                if learner.weights().config() != config.net {
                    return Err(RunError(format!(
                        "{}: the run learns a network {}, its config.toml asks for {}; put the [net] of \
                         the run back, or start another run",
                        folder.name(),
                        learner.weights().config(),
                        config.net
                    )));
                }
                (learner, saved.pending, Some(saved.games), saved.counters)
            }
            None => {
                let mut stream = stream(seed, WEIGHTS);
                let weights = match folder.first_weights(&game)? {
                    Some(agent) => agent.weights().grown(config.net, &mut stream),
                    None => Ok(Weights::random(config.net, shape, &mut stream)),
                };
                let learner = Learner::new(config.learner, weights.map_err(RunError::new)?);
                (learner, Samples::new(), None, Counters::new())
            }
        };
        let learner = learner.on(device);
        folder.cut_metrics(counters.step)?;
        let threads = config.run.playing_threads();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| RunError(format!("run.threads = {threads}: {error}")))?;
        let evaluators = evaluators(&game, learner.average(), device, threads);
        let mut play =
            SelfPlay::new(&game, &config.selfplay, evaluators, seed).map_err(RunError::new)?;
        if let Some(games) = games {
            play.restore(&games).map_err(|error| folder.broken(error))?;
        }
        Ok(Run {
            saved: None,
            batch: TrainBatch::new(shape),
            mirror: game.mirror(),
            exam: open_exam(&game, config)?,
            events: Some(folder.open_events(counters.step)?),
            config,
            folder,
            game,
            pool,
            threads,
            device: device.clone(),
            play,
            replay,
            pending,
            learner,
            clock: Clock::after(&counters),
            counters,
        })
    }

    /// Plays until a file of samples is full, and takes the learning steps that the files before it
    /// have a right to; then the averaged weights play on. What is learned does not depend on the
    /// games of the same turn, so both may go on at the same time.
    fn turn(
        &mut self,
        stop: &AtomicBool,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let begun = Instant::now();
        let steps = self.steps_to_take();
        self.counters.owed.add(-(steps as f64));
        let config = self.config;
        let mut learning = Learning {
            config,
            replay: &self.replay,
            learner: &mut self.learner,
            batch: &mut self.batch,
            mirror: self.mirror.as_ref(),
            steps,
        };
        let mut playing = Playing {
            config,
            pool: &self.pool,
            play: &mut self.play,
            pending: &mut self.pending,
            counters: &mut self.counters,
            events: self.game.events(),
            samples: self.replay.len(),
            begun,
            clock: self.clock,
            steps,
            stop,
        };
        let learned = if config.run.overlap {
            std::thread::scope(|scope| {
                // One plain thread owns the learner: it must never run inside the pool.
                let learner = scope.spawn(|| learning.go_on());
                playing.go_on(tell);
                learner.join().expect("the learner does not panic")
            })
        } else {
            let learned = learning.go_on();
            playing.go_on(tell);
            learned
        };
        let learned = learned
            .map_err(|error| RunError(format!("{error}\n{}", self.folder.how_to_resume())))?;
        for progress in &learned.steps {
            self.counters.window.add_step(progress);
        }
        self.counters.window.add_learning(learned.time);
        if steps > 0 {
            let weights = self.learner.average();
            let evaluators = evaluators(&self.game, weights, &self.device, self.threads);
            self.play.replace_evaluators(evaluators);
            self.counters.step = self.learner.steps();
        }
        if self.pending.len() >= FILE_SAMPLES {
            let samples = std::mem::take(&mut self.pending);
            self.counters.owed.add(self.steps_of_a_file());
            self.replay
                .push(samples)
                .map_err(|error| self.folder.unwritten(error))?;
        }
        self.counters.window.add_time(begun.elapsed());
        Ok(())
    }

    /// Learning steps that a file of samples has a right to.
    fn steps_of_a_file(&self) -> f64 {
        let run = &self.config.run;
        FILE_SAMPLES as f64 * run.reuse / run.batch as f64
    }

    /// Whole learning steps that the samples in the window have a right to.
    fn steps_to_take(&self) -> u64 {
        let run = &self.config.run;
        if self.replay.len() < run.first_samples {
            return 0;
        }
        // What is owed for the first samples is taken over several turns, each of which can be stopped.
        let most = (4.0 * self.steps_of_a_file()).max(1.0) as u64;
        let left = match run.steps {
            0 => u64::MAX,
            limit => limit.saturating_sub(self.learner.steps()),
        };
        (self.counters.owed.get().max(0.0) as u64)
            .min(left)
            .min(most)
    }

    /// Lets the newest weights play matches, unless `stop` is set meanwhile: then a later call does it.
    fn evaluate(
        &mut self,
        stop: &AtomicBool,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let step = self.learner.steps();
        tell(Event::Doing(Activity::Matches(step)));
        self.folder.save_agent(&self.agent())?;
        let from = (self.config.run.seed, step, self.threads);
        let evaluation = &self.config.evaluation;
        let strength =
            self.counters
                .matches
                .play(&self.game, evaluation, self.folder, from, stop)?;
        if let Some(strength) = strength {
            tell(Event::Strength(&strength));
            self.note(tell, |events| events.strength(&strength));
            self.counters.strength = Some(strength);
            self.saved = None;
        }
        tell(Event::Doing(Activity::Training));
        Ok(())
    }

    /// Holds the averaged weights against exact tables, if there are any.
    fn examine(&mut self, tell: &mut impl FnMut(Event<'_>)) {
        let Some(exam) = &self.exam else {
            return;
        };
        let weights = self.learner.average();
        let mut judges = evaluators(&self.game, weights, &OpenDevice::cpu(), self.threads);
        let tally = self.pool.install(|| exam.take(&mut judges));
        let step = self.learner.steps();
        self.note(tell, |events| events.accuracy(&tally, step));
        self.counters.accuracy = Some(tally);
    }

    fn is_finished(&self) -> bool {
        let run = &self.config.run;
        (run.steps > 0 && self.learner.steps() >= run.steps)
            || (run.games > 0 && self.counters.games >= run.games)
            || (run.minutes > 0.0 && self.clock.seconds() >= 60.0 * run.minutes)
            || (run.cpu_minutes > 0.0 && self.clock.cpu_seconds() >= 60.0 * run.cpu_minutes)
    }

    /// Writes a line of metrics and begins the next one.
    fn write_metrics(&mut self, tell: &mut impl FnMut(Event<'_>)) -> Result<(), RunError> {
        let fill = (self.replay.len(), self.config.replay.capacity);
        let totals = self.counters.totals(fill, &self.clock, self.game.events());
        let mut metrics = self.counters.window.metrics(totals);
        metrics.accuracy = self.counters.accuracy.take();
        metrics.strength = self.counters.strength.take();
        self.folder.append_metrics(&metrics)?;
        tell(Event::Metrics(&metrics));
        self.note(tell, |events| events.metrics(&metrics));
        self.counters.window = Window::default();
        Ok(())
    }

    /// Adds what is waiting for the next line of metrics to the last one: there may be no other. If the
    /// run goes on, the next line has it as well.
    fn complete_metrics(&self) -> Result<(), RunError> {
        let Counters {
            accuracy, strength, ..
        } = &self.counters;
        if accuracy.is_none() && strength.is_none() {
            return Ok(());
        }
        self.folder.change_last_metrics(|metrics| {
            metrics.accuracy = accuracy.or(metrics.accuracy);
            metrics.strength = strength.clone().or(metrics.strength.take());
        })
    }

    /// Writes for TensorBoard. If that fails, the run goes on without it.
    fn note(
        &mut self,
        tell: &mut impl FnMut(Event<'_>),
        write: impl FnOnce(&mut EventFile) -> io::Result<()>,
    ) {
        let Some(events) = &mut self.events else {
            return;
        };
        if let Err(error) = write(events) {
            tell(Event::Warning(format!(
                "TensorBoard's file cannot be written ({error}); the run goes on without it"
            )));
            self.events = None;
        }
    }

    /// The averaged weights as an agent.
    fn agent(&self) -> AgentFile {
        let provenance = Provenance {
            program: this_program(),
            run: self.folder.name(),
            seed: self.config.run.seed,
            step: self.learner.steps(),
            games: self.counters.games,
        };
        let weights = self.learner.average().clone();
        AgentFile::new(&self.game, weights, provenance, Vec::new())
    }

    /// Writes a checkpoint, unless nothing has happened since the last one.
    fn checkpoint(&mut self, tell: &mut impl FnMut(Event<'_>)) -> Result<(), RunError> {
        if self.saved == Some(self.counters.positions) {
            return Ok(());
        }
        let counters = Counters {
            next_file: self.replay.next(),
            seconds: self.clock.seconds(),
            cpu_seconds: self.clock.cpu_seconds(),
            ..self.counters.clone()
        };
        let origin = GameVersion::of(&self.game);
        let saved = Saved {
            learner: self.learner.to_bytes(),
            games: self.play.save(),
            pending: self.pending.clone(),
            counters,
        };
        let agent = self.agent();
        let path = self.folder.save_agent(&agent)?;
        self.folder.save_checkpoint(&saved, &origin)?;
        self.replay.tidy().map_err(RunError::new)?;
        let keep = self.config.run.keep;
        self.folder.tidy(keep, self.counters.matches.steps())?;
        self.saved = Some(self.counters.positions);
        let step = self.learner.steps();
        self.note(tell, |events| events.weights(agent.weights(), step));
        tell(Event::Checkpoint(step, &path));
        Ok(())
    }
}

/// A fixed sample of positions of the exact tables that the settings name.
fn open_exam<G: CatalogGame>(game: &G, config: &Config) -> Result<Option<PolicyExam<G>>, RunError> {
    let tables = exam_tables(game, config)?;
    Ok(tables.map(|tables| PolicyExam::random(game, tables.as_ref(), EXAM_POSITIONS, EXAM_SEED)))
}

fn exam_tables<G: CatalogGame>(
    game: &G,
    config: &Config,
) -> Result<Option<Arc<dyn Endgames<G>>>, RunError> {
    let folder = &config.evaluation.tables;
    if folder.as_os_str().is_empty() {
        return Ok(None);
    }
    let tables = game.open_endgames(folder);
    let wrong = |error| RunError(format!("evaluation.tables = {}: {error}", folder.display()));
    tables.map(Some).map_err(wrong)
}

/// Everything that a run goes on from.
struct Saved {
    learner: Vec<u8>,
    games: GamesState,
    pending: Samples,
    counters: Counters,
}

impl Counters {
    fn new() -> Counters {
        Counters {
            step: 0,
            owed: Bits::default(),
            games: 0,
            positions: 0,
            next_file: 0,
            seconds: 0.0,
            cpu_seconds: 0.0,
            window: Window::default(),
            accuracy: None,
            strength: None,
            matches: Matches::default(),
        }
    }

    /// What a line of metrics says of the whole run. `fill` is how many samples the window holds, and
    /// could hold; `events` are the names of what the game counts.
    fn totals(
        &self,
        fill: (usize, usize),
        clock: &Clock,
        events: &'static [&'static str],
    ) -> Totals {
        Totals {
            step: self.step,
            games: self.games,
            positions: self.positions,
            replay: fill.0,
            capacity: fill.1,
            seconds: clock.seconds(),
            cpu_seconds: clock.cpu_seconds(),
            events,
        }
    }
}
