//! The settings of a run: defaults, files and single settings, one laid over the other.
//!
//! Each stage owns its settings; nothing is decided here. The defaults are `configs/default.toml`
//! and nowhere else.

mod check;
mod layers;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use layers::ConfigError;

use crate::catalog::GameSettings;
use crate::net::NetConfig;
use crate::program::cores;
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
            0 => cores(),
            threads => threads,
        }
    }
}

impl Config {
    /// Refuses settings that make no sense, whatever the game.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let net = self.net.validate();
        net.map_err(|problem| ConfigError::new(problem.to_string()))?;
        let selfplay = self.selfplay.validate();
        selfplay.map_err(|problem| ConfigError::new(problem.to_string()))?;
        check::replay(&self.replay)?;
        check::learner(&self.learner)?;
        check::evaluation(&self.evaluation)?;
        check::run(&self.run)?;
        check::together(&self.replay, &self.run)
    }
}
