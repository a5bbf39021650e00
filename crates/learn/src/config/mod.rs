//! The settings of a run, in layers: defaults, files and single settings.
//!
//! Each stage owns its settings and their meaning; this module composes them. The defaults are in
//! `configs/default.toml` alone, because that is where users read them. The file is part of the library,
//! so [`Config::default`] needs no file at run time.

mod check;
mod layers;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use layers::{Base, ConfigError};

use crate::train::LearnerConfig;
use jarmo_core::net::NetConfig;
use jarmo_exact::catalog::GameSettings;
use jarmo_host::program::cores;
use jarmo_selfplay::replay::ReplaySettings;
use jarmo_selfplay::selfplay::SelfPlaySettings;

/// All settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The game.
    pub game: GameConfig,
    /// The network.
    pub net: NetConfig,
    /// Self-play.
    pub selfplay: SelfPlaySettings,
    /// The replay window.
    pub replay: ReplaySettings,
    /// Learning.
    pub learner: LearnerConfig,
    /// Matches and exams during the run.
    pub evaluation: EvaluationConfig,
    /// How self-play and learning alternate, and when the run stops.
    pub run: RunConfig,
    /// Self-play on other machines.
    pub fleet: FleetConfig,
}

/// The game of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameConfig {
    /// The name in the catalog of the program.
    pub name: String,
    /// The board file of jarmo and guard; empty for the standard board.
    pub board: PathBuf,
}

impl GameConfig {
    /// The settings of the rules.
    pub fn settings(&self) -> GameSettings {
        let own_board = !self.board.as_os_str().is_empty();
        GameSettings {
            board: own_board.then(|| self.board.clone()),
            ..GameSettings::default()
        }
    }
}

/// Matches during a run, against fixed agents and earlier checkpoints, and the exam at every checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// Learning steps between matches, or a tenth of the steps so far if that is more; 0 for no matches. The first
    /// ones come early, see [`Config::first_matches`].
    pub every: u64,
    /// Games against each opponent: an even number, because each opening is played from both sides.
    pub games: u32,
    /// Simulations per action of the run's own agents.
    pub simulations: u32,
    /// Random actions at the start of a game.
    pub opening_plies: u32,
    /// Specs of fixed agents; the first one has rating 0.
    pub opponents: Vec<String>,
    /// How many earlier checkpoints are among the opponents: the best one, then the newest.
    pub past: usize,
    /// The exam that the network takes at each checkpoint.
    pub exam: ExamChoice,
}

/// Which exam a run takes: `built-in`, `none`, or the path of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ExamChoice {
    /// The one that is part of the program, if it has one for the game.
    BuiltIn,
    /// None.
    None,
    /// That of a file.
    File(PathBuf),
}

impl From<String> for ExamChoice {
    fn from(text: String) -> ExamChoice {
        match text.as_str() {
            "built-in" => ExamChoice::BuiltIn,
            "none" => ExamChoice::None,
            _ => ExamChoice::File(text.into()),
        }
    }
}

impl From<ExamChoice> for String {
    fn from(choice: ExamChoice) -> String {
        match choice {
            ExamChoice::BuiltIn => "built-in".to_owned(),
            ExamChoice::None => "none".to_owned(),
            ExamChoice::File(path) => path.display().to_string(),
        }
    }
}

/// How self-play and learning alternate, and when the run stops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The seed of everything random.
    pub seed: u64,
    /// Threads of self-play; 0 for one per core.
    pub threads: usize,
    /// Samples per learning step.
    pub batch: usize,
    /// How often a sample is used on average: there are `reuse / batch` learning steps per new sample.
    pub reuse: f64,
    /// Samples to collect before learning starts.
    pub first_samples: usize,
    /// Learning steps between checkpoints.
    pub checkpoint: u64,
    /// How many of the newest checkpoints are kept, besides those that played matches.
    pub keep: usize,
    /// The limit of learning steps; 0 for no limit.
    pub steps: u64,
    /// The limit of finished games; 0 for no limit.
    pub games: u64,
    /// The limit of minutes; 0 for no limit.
    pub minutes: f64,
    /// The limit of minutes of processor time, all threads together; 0 for no limit.
    pub cpu_minutes: f64,
}

/// Self-play on other machines, for `train --fleet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetConfig {
    /// Games in parallel per thread of a worker.
    pub games: usize,
    /// Learning steps between networks for the workers.
    pub publish: u64,
    /// The highest age in learning steps of the weights that played a file; older files are dropped.
    pub max_age: u64,
    /// The most files that wait for the learner at the server; then workers wait.
    pub queue: u64,
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
    /// The step of the first matches: that of the first checkpoint, so that a run shows its strength early. `None`
    /// without matches.
    pub fn first_matches(&self) -> Option<u64> {
        let every = self.evaluation.every;
        (every > 0).then(|| every.min(self.run.checkpoint))
    }

    /// Refuses settings that are out of range or contradict each other. This does not depend on the game, and any name
    /// of a game will do.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let table = toml::Table::try_from(self);
        let table = table.map_err(|problem| ConfigError::new(problem.to_string()))?;
        check::bounds(&table)?;
        let net = self.net.validate();
        net.map_err(|problem| ConfigError::new(problem.to_string()))?;
        check::evaluation(&self.evaluation)?;
        check::together(&self.replay, &self.run)
    }
}
