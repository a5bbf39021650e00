//! The settings of a run: defaults, files and single settings, one laid over the other.
//!
//! Each stage owns its settings; nothing is decided here. The defaults are `configs/default.toml`
//! and nowhere else.

mod layers;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

pub use layers::ConfigError;

use crate::catalog::GameSettings;
use crate::net::NetConfig;
use crate::replay::ReplaySettings;
use crate::selfplay::SelfPlaySettings;
use crate::train::LearnerConfig;

/// All settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Which game.
    pub game: GameConfig,
    /// The network.
    pub net: NetConfig,
    /// How it plays against itself.
    pub selfplay: SelfPlaySettings,
    /// The window of samples.
    pub replay: ReplaySettings,
    /// How it learns.
    pub learner: LearnerConfig,
    /// The matches that tell how strong it has become.
    pub evaluation: EvaluationConfig,
    /// How all that is put together.
    pub run: RunConfig,
}

/// The game of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameConfig {
    /// Its name.
    pub name: String,
    /// The board file, or empty for the standard web.
    pub web: PathBuf,
}

impl GameConfig {
    /// The settings of its rules.
    pub fn settings(&self) -> GameSettings {
        let own_web = !self.web.as_os_str().is_empty();
        GameSettings {
            web: own_web.then(|| self.web.clone()),
            ..GameSettings::default()
        }
    }
}

/// The matches that tell how strong a run has become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// Learning steps from one evaluation to the next, at first; later a tenth more steps. 0 for none.
    pub every: u64,
    /// Games against each opponent: an even number, every opening is played from both sides.
    pub games: u32,
    /// Simulations for each action of the run's own agents.
    pub simulations: u32,
    /// Random actions that a game starts with.
    pub opening_plies: u32,
    /// Agents that stay the same; the first has the rating 0.
    pub opponents: Vec<String>,
    /// Earlier checkpoints among the opponents: the best one first, then the newest.
    pub past: usize,
    /// The folder of exact tables that the network is held against at every checkpoint, or empty.
    pub tables: PathBuf,
}

/// How self-play, replay and learner are put together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Decides everything that is random.
    pub seed: u64,
    /// Threads of self-play; 0 for one on each core.
    pub threads: usize,
    /// Whether learning goes on while games are played, beside them; what is learned is the same.
    pub overlap: bool,
    /// Samples of a learning step.
    pub batch: usize,
    /// How often a sample is learned from, on average.
    pub reuse: f64,
    /// Samples to gather before learning starts.
    pub first_samples: usize,
    /// Learning steps from one checkpoint to the next.
    pub checkpoint: u64,
    /// Checkpoints that are kept.
    pub keep: usize,
    /// Learning steps after which the run stops; 0 for no limit.
    pub steps: u64,
    /// Finished games after which it stops; 0 for no limit.
    pub games: u64,
    /// Minutes after which it stops; 0 for no limit.
    pub minutes: f64,
    /// Minutes of processor time, all threads together, after which it stops; 0 for no limit.
    pub cpu_minutes: f64,
}

impl RunConfig {
    /// The threads of self-play.
    pub fn playing_threads(&self) -> usize {
        match self.threads {
            0 => available_parallelism().map_or(1, NonZeroUsize::get),
            threads => threads,
        }
    }
}

impl Config {
    /// Checks what no single type can.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let error = |problem: String| Err(ConfigError::new(problem));
        if let Err(problem) = self.net.validate() {
            return error(problem.to_string());
        }
        if let Err(problem) = self.selfplay.validate() {
            return error(problem.to_string());
        }
        let least = [
            ("run.batch", self.run.batch as f64),
            ("run.first_samples", self.run.first_samples as f64),
            ("run.checkpoint", self.run.checkpoint as f64),
            ("run.keep", self.run.keep as f64),
            ("replay.capacity", self.replay.capacity as f64),
        ];
        if let Some((key, number)) = least.into_iter().find(|(_, number)| *number < 1.0) {
            return error(format!("{key} = {number}: it must be at least 1"));
        }
        let evaluation = &self.evaluation;
        if evaluation.games == 0 || evaluation.games % 2 == 1 {
            return error(format!(
                "evaluation.games = {}: it must be even and at least 2, as every opening is played from \
                 both sides",
                evaluation.games
            ));
        }
        if evaluation.simulations == 0 {
            return error("evaluation.simulations = 0: it must be at least 1".to_owned());
        }
        if evaluation.every > 0 && evaluation.opponents.is_empty() {
            return error(
                "evaluation.opponents = []: name at least one, such as random, or set \
                 evaluation.every = 0 for no matches"
                    .to_owned(),
            );
        }
        let learner = &self.learner;
        let positive = [
            ("run.reuse", self.run.reuse),
            ("learner.rate", f64::from(learner.rate)),
            ("learner.clip", f64::from(learner.clip)),
            ("learner.explode", f64::from(learner.explode)),
            ("learner.adam.epsilon", f64::from(learner.adam.epsilon)),
        ];
        let fits = |number: f64| number > 0.0 && number.is_finite();
        if let Some((key, number)) = positive.into_iter().find(|(_, number)| !fits(*number)) {
            return error(format!("{key} = {number}: it must be above 0"));
        }
        let shares = [
            ("replay.surprise", self.replay.surprise),
            ("learner.lowest", learner.lowest),
            ("learner.average", learner.average),
            ("learner.adam.beta1", learner.adam.beta1),
            ("learner.adam.beta2", learner.adam.beta2),
        ];
        let outside = |number: f32| !(0.0..=1.0).contains(&number);
        if let Some((key, number)) = shares.into_iter().find(|(_, number)| outside(*number)) {
            return error(format!("{key} = {number}: it must be from 0 to 1"));
        }
        let sizes = [
            ("run.minutes", self.run.minutes),
            ("run.cpu_minutes", self.run.cpu_minutes),
            (
                "learner.adam.weight_decay",
                f64::from(learner.adam.weight_decay),
            ),
            ("learner.loss.policy", f64::from(learner.loss.policy)),
            ("learner.loss.result", f64::from(learner.loss.result)),
            ("learner.loss.score", f64::from(learner.loss.score)),
        ];
        let negative = |number: f64| !(number >= 0.0 && number.is_finite());
        if let Some((key, number)) = sizes.into_iter().find(|(_, number)| negative(*number)) {
            return error(format!("{key} = {number}: it must not be below 0"));
        }
        Ok(())
    }
}
