//! Learning in a browser tab: what the workers of a page call.
//!
//! Each worker has an instance of this program, and one or more of three roles. A *player* gets the agent of the newest
//! weights and gives files of samples; the *learner* gets these files and gives agents; the *judge* examines agents and
//! lets them play. All of these are bytes, so the page may pass them on as it likes. A run of `jarmo train` with one thread
//! does the same, with the same settings and the same code: that of `jarmo_train`.

#[cfg(target_family = "wasm")]
#[path = "../../src/buffer.rs"]
mod buffer;
#[cfg(target_family = "wasm")]
mod exports;
mod judge;
mod scenes;

use std::sync::Arc;

use jarmo_core::agent::AgentError;
use jarmo_core::error::FileError;
use jarmo_core::net::{AgentFile, FrozenNet, KernelKind, Provenance};
use jarmo_exact::ExactError;
use jarmo_facade::measure::{AnyExam, MeasureError};
use jarmo_facade::{AnyGame, Games};
use jarmo_judge::JudgeError;
use jarmo_selfplay::replay::{Samples, Window};
use jarmo_selfplay::selfplay::Counts;
use jarmo_train::config::{Base, Config};
use jarmo_train::{Learner, Losses, OpenDevice, Player, StepStats, TrainError, Trainer, first_weights};
use serde::Serialize;

pub use judge::{Game, Likely, Opinion, Pair, Players};
pub use scenes::Scenes;

/// Why a message cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The settings are wrong, or the network cannot be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// There is no such game.
    #[error(transparent)]
    Game(#[from] ExactError),
    /// An agent, samples or a learner cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// An exam cannot be used.
    #[error(transparent)]
    Exam(#[from] JudgeError),
    /// An agent cannot be judged.
    #[error(transparent)]
    Judge(#[from] MeasureError),
    /// There is no such agent.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The message is not what it should be, and why.
    #[error("{0}")]
    Message(String),
    /// This worker has not begun what the message is about.
    #[error("there is no {0} yet")]
    Missing(&'static str),
}

impl LearnError {
    fn message(problem: impl std::fmt::Display) -> LearnError {
        LearnError::Message(problem.to_string())
    }
}

/// A training step.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Step {
    /// Steps taken, this one included.
    pub step: u64,
    /// The learning rate.
    pub rate: f32,
    /// The loss before the step, and its parts.
    #[serde(flatten)]
    pub losses: Losses,
}

/// What one worker has: a game, and what its roles need.
pub struct Worker {
    game: Arc<dyn AnyGame>,
    config: Config,
    kernel: KernelKind,
    player: Option<Player>,
    trainer: Option<Trainer>,
    exam: Option<Arc<dyn AnyExam>>,
    agents: [Option<AgentFile>; 2], // those that the judge was given
    counts: Counts,
}

impl Worker {
    /// A worker with the default settings of a game, overridden by a `KEY=VALUE` in each line, as after `--set` on the
    /// command line. The first line names the game.
    pub fn new(settings: &str) -> Result<Worker, LearnError> {
        let settings: Vec<String> =
            settings.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        let games = Games::shipped();
        let name = settings.first().and_then(|first| first.trim().strip_prefix("game.name"));
        let name = name.and_then(|rest| rest.trim_start().strip_prefix('=')).unwrap_or_default();
        let name = name.trim().trim_matches('"').to_owned();
        let base = Base { games: games.list(), game: Some(name.clone()), net: None };
        let config = Config::layered(&base, &[], &settings)?;
        let game = games.open(&name, &config.game.settings())?;
        let kernel = config.run.kernel.unwrap_or_else(KernelKind::best);
        Ok(Worker {
            game,
            config,
            kernel,
            player: None,
            trainer: None,
            exam: None,
            agents: [None, None],
            counts: Counts::default(),
        })
    }

    /// Begins to learn: from random weights, or from those of an agent.
    pub fn begin_learning(&mut self, agent: Option<&[u8]>) -> Result<(), LearnError> {
        let (shape, device) = (self.game.facts().version.shape, OpenDevice::cpu());
        let agent = agent.map(|bytes| self.agent_of(bytes)).transpose()?;
        let (net, seed) = (self.config.net.of(self.game.as_ref()), self.config.run.seed);
        let weights = first_weights(&net, shape, agent.as_ref().map(AgentFile::weights), seed, &device)?;
        let learner = Learner::new(self.config.learner, weights, &device);
        self.trainer = Some(self.trainer_of(learner, 0.0));
        Ok(())
    }

    /// Continues to learn from a [checkpoint](Worker::checkpoint). The files of samples of that time follow, by
    /// [`Worker::add_samples`].
    pub fn resume_learning(&mut self, checkpoint: &[u8], owed: f64) -> Result<(), LearnError> {
        let learner = Learner::from_bytes(self.config.learner, &OpenDevice::cpu(), checkpoint)?;
        self.trainer = Some(self.trainer_of(learner, owed));
        Ok(())
    }

    fn trainer_of(&self, learner: Learner, owed: f64) -> Trainer {
        let Config { run, replay, .. } = &self.config;
        Trainer::new(run.trainer(), self.game.facts().mirror.clone(), learner, Window::new(*replay, 0), owed)
    }

    /// Everything that the next training step depends on, except for the settings, the files of samples, and the steps
    /// that are [owed](Worker::owed).
    pub fn checkpoint(&self) -> Result<Vec<u8>, LearnError> {
        let trainer = self.trainer.as_ref().ok_or(LearnError::Missing("learner"))?;
        Ok(trainer.learner.to_bytes())
    }

    /// The training steps that are due for the files of samples so far, with the fraction of one; 0 without a learner.
    pub fn owed(&self) -> f64 {
        self.trainer.as_ref().map_or(0.0, |trainer| trainer.owed)
    }

    /// The agent of the averaged weights, as a file. It says that so many games were played, by all players.
    pub fn agent(&self, games: u64) -> Result<Vec<u8>, LearnError> {
        let trainer = self.trainer.as_ref().ok_or(LearnError::Missing("learner"))?;
        let provenance = Provenance {
            program: format!("jarmo {} in a browser", env!("CARGO_PKG_VERSION")),
            run: String::new(),
            seed: self.config.run.seed,
            step: trainer.learner.steps(),
            games,
        };
        let (version, weights) = (self.game.facts().version.clone(), trainer.learner.average().clone());
        Ok(AgentFile::of_version(version, weights, provenance, Vec::new()).to_bytes())
    }

    /// Adds a file of samples to the window. Training steps become due for them, unless the learner is being resumed.
    pub fn add_samples(&mut self, bytes: &[u8], is_new: bool) -> Result<(), LearnError> {
        let samples = Samples::from_bytes(bytes, &self.game.facts().version)?;
        let trainer = self.trainer.as_mut().ok_or(LearnError::Missing("learner"))?;
        let due_for = if is_new { samples.len() } else { 0 };
        trainer.add(samples, due_for);
        Ok(())
    }

    /// The number of files that are in the window. Older ones have left it.
    pub fn files(&self) -> usize {
        self.trainer.as_ref().map_or(0, |trainer| trainer.window.files().count())
    }

    /// Training steps that are due for the samples so far.
    pub fn steps_due(&self) -> u64 {
        self.trainer.as_ref().map_or(0, Trainer::steps_due)
    }

    /// Takes training steps, and completes the averaged weights.
    pub fn learn(&mut self, steps: u64) -> Result<Vec<Step>, LearnError> {
        let trainer = self.trainer.as_mut().ok_or(LearnError::Missing("learner"))?;
        let taken = trainer.learn(steps)?.into_iter();
        let step = |StepStats { step, rate, measures }| Some(Step { step, rate, losses: measures?.losses });
        Ok(taken.filter_map(step).collect())
    }

    /// The network of this agent plays from now on. The games go on, or begin.
    pub fn play_with(&mut self, agent: &[u8]) -> Result<(), LearnError> {
        let net = self.net_of(&self.agent_of(agent)?).into();
        match &mut self.player {
            Some(player) => player.games.use_network(&net),
            none => {
                let games = self.game.self_play(&self.config.selfplay, &net, 1, self.config.run.seed);
                *none = Some(Player::new(games));
            }
        }
        Ok(())
    }

    /// Plays one action in every game. Returns the number of positions that were searched.
    pub fn round(&mut self) -> Result<u64, LearnError> {
        let player = self.player.as_mut().ok_or(LearnError::Missing("player"))?;
        let counts = player.round();
        self.counts.add(&counts);
        Ok(counts.positions)
    }

    /// The number of games that were finished here.
    pub fn games(&self) -> u64 {
        self.counts.games.games
    }

    /// A file of samples, once there are enough.
    pub fn samples(&mut self) -> Option<Vec<u8>> {
        let samples = self.player.as_mut()?.take_file()?;
        Some(samples.to_bytes(&self.game.facts().version))
    }

    fn net_of(&self, agent: &AgentFile) -> FrozenNet {
        FrozenNet::with_kernel(agent.weights(), self.kernel)
    }

    fn agent_of(&self, bytes: &[u8]) -> Result<AgentFile, LearnError> {
        let agent = AgentFile::from_bytes(bytes)?;
        Ok(self.game.fit(agent)?)
    }
}
