//! A training run from beginning to end: self-play, replay, learning, checkpoints.
//!
//! One round is one action in every game. The samples of games that ended go into the window, and
//! for every sample the learner takes a fixed share of a step; then the averaged weights play on.
//! Nothing here prints: whoever starts a run is told what happens.

mod folder;
mod metrics;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cpu_time::ProcessTime;
use rayon::ThreadPool;
use serde::{Deserialize, Serialize};

pub use folder::{RunFolder, export};
pub use metrics::{Metrics, Timing};

use crate::catalog::{CatalogGame, GameError};
use crate::config::Config;
use crate::net::{AgentFile, FrozenNet, NetEvaluator, NetShape, Provenance, Weights, this_program};
use crate::random::stream;
use crate::replay::{Replay, SampleView, Samples, ShardOrigin};
use crate::selfplay::{GamesState, SelfPlay};
use crate::train::{Learner, TrainBatch};
use metrics::Window;

/// Streams of the run's seed that belong to nothing else.
const WEIGHTS: u64 = u64::MAX;
const DRAWS: u64 = 1 << 63; // plus the number of the learning step

/// Samples of a replay file.
const FILE_SAMPLES: usize = 4096;

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
    /// Games are played, but there are too few samples to learn from: so many so far.
    Gathering(usize, &'a Metrics),
    /// A line of metrics, the same that is in the file.
    Metrics(&'a Metrics),
    /// A checkpoint was written: its step and its agent file.
    Checkpoint(u64, &'a Path),
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
    owed: u64, // bits: learning steps, with a fraction, that the samples so far have a right to
    games: u64,
    positions: u64,
    next_file: u64, // of the replay window
    seconds: f64,   // spent so far
    #[serde(default)]
    cpu_seconds: f64, // of all threads
    window: Window,
}

/// A run under way.
struct Run<'a, G: CatalogGame> {
    config: &'a Config,
    folder: &'a RunFolder,
    game: G,
    pool: ThreadPool,
    threads: usize,
    play: SelfPlay<G, NetEvaluator<G>>,
    replay: Replay,
    pending: Samples, // in no file yet
    learner: Learner,
    batch: TrainBatch,
    counters: Counters,
    owed: f64,
    saved: Option<u64>, // positions searched at the last checkpoint
    started: Instant,
    cpu_started: ProcessTime,
}

/// Runs until a limit is reached or `stop` is set; then, and every so often, writes a checkpoint.
/// A folder with a checkpoint goes on from there.
pub fn run<G: CatalogGame>(
    game: G,
    config: &Config,
    folder: &RunFolder,
    stop: &AtomicBool,
    mut tell: impl FnMut(Event<'_>),
) -> Result<Ended, RunError> {
    let mut run = Run::start(game, config, folder, &mut tell)?;
    loop {
        if stop.load(Ordering::Relaxed) {
            run.checkpoint(&mut tell)?;
            return Ok(Ended::Stopped);
        }
        if run.is_finished() {
            run.checkpoint(&mut tell)?;
            return Ok(Ended::Limit);
        }
        run.play_round()?;
        let before = run.learner.steps();
        run.learn()?;
        let after = run.learner.steps();
        if after == before {
            if run.replay.len() < config.run.first_samples {
                let samples = run.replay.len() + run.pending.len();
                tell(Event::Gathering(samples, &run.metrics()));
            }
            continue;
        }
        if after / METRICS_STEPS > before / METRICS_STEPS {
            let metrics = run.metrics();
            folder.append_metrics(&metrics)?;
            tell(Event::Metrics(&metrics));
            run.counters.window = Window::default();
        }
        if after / config.run.checkpoint > before / config.run.checkpoint {
            run.checkpoint(&mut tell)?;
        }
    }
}

impl<'a, G: CatalogGame> Run<'a, G> {
    fn start(
        game: G,
        config: &'a Config,
        folder: &'a RunFolder,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<Run<'a, G>, RunError> {
        let shape = NetShape::of(&game);
        let origin = ShardOrigin::of(&game);
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
                (learner, saved.pending, Some(saved.games), saved.counters)
            }
            None => {
                let mut stream = stream(seed, WEIGHTS);
                let learner = Learner::new(config.learner, config.net, shape, &mut stream);
                (learner, Samples::new(), None, Counters::new())
            }
        };
        folder.cut_metrics(counters.step)?;
        let threads = match config.run.threads {
            0 => std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            threads => threads,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| RunError(format!("run.threads = {threads}: {error}")))?;
        let evaluators = evaluators(&game, &learner.average(), threads);
        let mut play =
            SelfPlay::new(&game, &config.selfplay, evaluators, seed).map_err(RunError::new)?;
        if let Some(games) = games {
            play.restore(&games).map_err(|error| folder.broken(error))?;
        }
        Ok(Run {
            owed: f64::from_bits(counters.owed),
            saved: None,
            batch: TrainBatch::new(shape),
            config,
            folder,
            game,
            pool,
            threads,
            play,
            replay,
            pending,
            learner,
            counters,
            started: Instant::now(),
            cpu_started: ProcessTime::now(),
        })
    }

    /// One action in every game; samples go into the window a file at a time.
    fn play_round(&mut self) -> Result<(), RunError> {
        let start = Instant::now();
        let round = self.pool.install(|| self.play.round());
        let counters = &mut self.counters;
        counters.games += round.games.games;
        counters.positions += round.positions;
        counters.window.add_round(&round, start.elapsed());
        self.pending.extend(&round.samples);
        if self.pending.len() >= FILE_SAMPLES {
            let samples = std::mem::take(&mut self.pending);
            self.owed +=
                samples.len() as f64 * self.config.run.reuse / self.config.run.batch as f64;
            self.replay.push(samples).map_err(RunError::new)?;
        }
        Ok(())
    }

    /// Takes the learning steps that the samples have a right to, and plays on with what came of it.
    fn learn(&mut self) -> Result<(), RunError> {
        if self.replay.len() < self.config.run.first_samples || self.owed < 1.0 {
            return Ok(());
        }
        let start = Instant::now();
        while self.owed >= 1.0 && !self.has_reached_steps() {
            self.owed -= 1.0;
            let mut draws = stream(self.config.run.seed, DRAWS + self.learner.steps());
            self.batch.clear();
            for _ in 0..self.config.run.batch {
                push(&mut self.batch, self.replay.draw(&mut draws));
            }
            let progress = self
                .learner
                .step(&self.batch)
                .map_err(|error| RunError(format!("{error}\n{}", self.folder.how_to_resume())))?;
            self.counters.window.add_step(&progress);
        }
        let evaluators = evaluators(&self.game, &self.learner.average(), self.threads);
        self.play.replace_evaluators(evaluators);
        self.counters.step = self.learner.steps();
        self.counters.window.add_learning(start.elapsed());
        Ok(())
    }

    fn has_reached_steps(&self) -> bool {
        let limit = self.config.run.steps;
        limit > 0 && self.learner.steps() >= limit
    }

    fn is_finished(&self) -> bool {
        let run = &self.config.run;
        self.has_reached_steps()
            || (run.games > 0 && self.counters.games >= run.games)
            || (run.minutes > 0.0 && self.seconds() >= 60.0 * run.minutes)
            || (run.cpu_minutes > 0.0 && self.cpu_seconds() >= 60.0 * run.cpu_minutes)
    }

    /// Time of the whole run, earlier parts included.
    fn seconds(&self) -> f64 {
        self.counters.seconds + self.started.elapsed().as_secs_f64()
    }

    /// Time that processors spent on the whole run, all threads together.
    fn cpu_seconds(&self) -> f64 {
        self.counters.cpu_seconds + self.cpu_started.elapsed().as_secs_f64()
    }

    fn metrics(&self) -> Metrics {
        let counters = &self.counters;
        counters.window.metrics(metrics::Totals {
            step: self.learner.steps(),
            games: counters.games,
            positions: counters.positions,
            replay: self.replay.len(),
            capacity: self.config.replay.capacity,
            seconds: self.seconds(),
            cpu_seconds: self.cpu_seconds(),
        })
    }

    /// Writes a checkpoint, unless nothing has happened since the last one.
    fn checkpoint(&mut self, tell: &mut impl FnMut(Event<'_>)) -> Result<(), RunError> {
        if self.saved == Some(self.counters.positions) {
            return Ok(());
        }
        let provenance = Provenance {
            program: this_program(),
            run: self.folder.name(),
            seed: self.config.run.seed,
            step: self.learner.steps(),
            games: self.counters.games,
        };
        let weights = self.learner.average();
        let agent = AgentFile::new(&self.game, weights, provenance, Vec::new());
        let counters = Counters {
            owed: self.owed.to_bits(),
            next_file: self.replay.next(),
            seconds: self.seconds(),
            cpu_seconds: self.cpu_seconds(),
            ..self.counters.clone()
        };
        let origin = ShardOrigin::of(&self.game);
        let saved = Saved {
            learner: self.learner.to_bytes(),
            games: self.play.save(),
            pending: self.pending.clone(),
            counters,
        };
        let path = self.folder.save_checkpoint(&agent, &saved, &origin)?;
        self.replay.tidy().map_err(RunError::new)?;
        self.folder.tidy(self.config.run.keep)?;
        self.saved = Some(self.counters.positions);
        tell(Event::Checkpoint(self.learner.steps(), &path));
        Ok(())
    }
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
            owed: 0.0_f64.to_bits(),
            games: 0,
            positions: 0,
            next_file: 0,
            seconds: 0.0,
            cpu_seconds: 0.0,
            window: Window::default(),
        }
    }
}

fn evaluators<G: CatalogGame>(game: &G, weights: &Weights, count: usize) -> Vec<NetEvaluator<G>> {
    let net = FrozenNet::new(weights);
    (0..count)
        .map(|_| NetEvaluator::with_net(game.clone(), net.clone()))
        .collect()
}

/// Adds a sample to what the learner looks at.
fn push(batch: &mut TrainBatch, sample: SampleView<'_>) {
    let policy = sample.actions.iter().zip(sample.policy);
    let is = |sign| f32::from(u8::from(sample.verdict.sign() == sign));
    batch.push(
        sample.features.iter().map(|&feature| u32::from(feature)),
        policy.map(|(&action, &share)| (usize::from(action), share)),
        [is(1), is(0), is(-1)],
        i32::from(sample.score),
    );
}
