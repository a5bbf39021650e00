//! The settings of a run, in layers: defaults, files and single settings.
//!
//! Each stage defines its own settings; this module composes them. The defaults are only in `configs/default.toml`,
//! because that is where users read them. The library contains this file, so [`Config::default`] needs no file at run
//! time.

mod check;
mod layers;

use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use layers::{Base, in_file};

use crate::TrainError;
use crate::learner::LearnerSettings;
use crate::registry;
use crate::trainer::TrainerSettings;
use jarmo_core::net::{KernelKind, NetKind, NetSettings};
use jarmo_core::numbers::{
    BATCH, Bounds, CPU_MINUTES, MATCH_GAMES, MINUTES, PARALLEL_GAMES, RANDOM_PLIES, STEPS, THREADS,
};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::AnyGame;
use jarmo_host::program::cores;
use jarmo_selfplay::replay::ReplaySettings;
use jarmo_selfplay::selfplay::SelfPlaySettings;

/// All settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The game.
    pub game: GameChoice,
    /// The network.
    pub net: NetChoice,
    /// Self-play.
    pub selfplay: SelfPlaySettings,
    /// The replay buffer.
    pub replay: ReplaySettings,
    /// Learning.
    pub learner: LearnerSettings,
    /// Matches and exams during the run.
    pub evaluation: EvaluationSettings,
    /// How self-play and learning alternate, and when the run stops.
    pub run: RunSettings,
    /// Self-play on other machines.
    pub fleet: FleetSettings,
}

/// The game of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameChoice {
    /// The name by which the program knows the game.
    pub name: String,
    /// The board file of jarmo and guard; empty for the standard board.
    pub board: PathBuf,
}

impl GameChoice {
    /// The settings of the rules.
    pub fn settings(&self) -> GameSettings {
        let own_board = !self.board.as_os_str().is_empty();
        GameSettings { board: own_board.then(|| self.board.clone()), ..GameSettings::default() }
    }
}

/// The network that a run trains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetChoice {
    /// `mlp`, `tower`, or the name of a custom network, which the program registers.
    pub kind: String,
    /// Units per layer of the `mlp`; numbers per cell of the `tower`.
    pub width: usize,
    /// Residual blocks of either.
    pub blocks: usize,
}

impl NetChoice {
    /// The size of the `mlp`, which is also that of the `tower`.
    pub fn size(&self) -> NetSettings {
        NetSettings { width: self.width, blocks: self.blocks }
    }

    /// Whether it is the `mlp`, which every program can evaluate.
    pub fn is_mlp(&self) -> bool {
        matches!(NetKind::named(&self.kind, self.size(), 0), NetKind::BuiltIn(_))
    }

    /// The network for a game.
    pub fn of(&self, game: &dyn AnyGame) -> NetKind {
        let (rows, columns) = game.facts().grid;
        NetKind::named(&self.kind, self.size(), rows * columns)
    }

    /// Rejects a custom network that this program does not have.
    pub fn check(&self) -> Result<(), TrainError> {
        if NetKind::BUILT_IN.contains(&self.kind.as_str()) {
            return Ok(());
        }
        registry::check(&NetKind::custom(&self.kind))
    }
}

/// Matches during a run, against fixed agents and earlier checkpoints, and the exam at every checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSettings {
    /// Training steps between matches, or a tenth of the steps so far if that is more; 0 for no matches. The first
    /// matches come early, see [`Config::first_matches`].
    pub every: u64,
    /// Games against each opponent: an even number, because each opening is played from both sides.
    pub games: u32,
    /// Simulations per action of the run's own agents.
    pub simulations: u32,
    /// Random actions at the start of a game.
    pub random_plies: u32,
    /// Specs of fixed agents; the first one has rating 0.
    pub opponents: Vec<String>,
    /// How many earlier checkpoints are opponents: the best one, then the newest.
    pub past: usize,
    /// The exam that the network takes at each checkpoint: `built-in` (the program's own exam, if it has one for the
    /// game), `none`, or the path of a file.
    pub exam: String,
}

impl EvaluationSettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 5] = [
        ("every", Bounds::Whole(STEPS)),
        ("games", Bounds::Whole(MATCH_GAMES)),
        ("simulations", Bounds::whole(1, 1 << 16)),
        ("random_plies", Bounds::Whole(RANDOM_PLIES)),
        ("past", Bounds::whole(0, 1000)),
    ];
}

/// Writes the name of a kernel, or `fastest` for `None`.
fn write_kernel<S: Serializer>(kernel: &Option<KernelKind>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(kernel.map_or("fastest", KernelKind::name))
}

fn read_kernel<'a, D: Deserializer<'a>>(text: D) -> Result<Option<KernelKind>, D::Error> {
    match String::deserialize(text)?.as_str() {
        "fastest" => Ok(None),
        name => name.parse().map(Some).map_err(D::Error::custom),
    }
}

/// How self-play and learning alternate, and when the run stops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSettings {
    /// The seed of everything random.
    pub seed: u64,
    /// Threads of self-play; 0 for one per core.
    pub threads: usize,
    /// The kernel that computes networks on the CPU; `None` is the fastest one. The folder of a run records which
    /// kernel was used.
    #[serde(serialize_with = "write_kernel", deserialize_with = "read_kernel")]
    pub kernel: Option<KernelKind>,
    /// Samples per training step.
    pub batch: usize,
    /// How often a sample is used on average: there are `reuse / batch` training steps per new sample.
    pub reuse: f64,
    /// Samples to collect before learning starts.
    pub first_samples: usize,
    /// Training steps between checkpoints.
    pub checkpoint: u64,
    /// How many of the newest checkpoints are kept, besides those that played matches.
    pub keep: usize,
    /// The limit of training steps; 0 for no limit.
    pub steps: u64,
    /// The limit of finished games; 0 for no limit.
    pub games: u64,
    /// The limit of wall-clock minutes; 0 for no limit.
    pub minutes: f64,
    /// The limit of minutes of CPU time, all threads together; 0 for no limit.
    pub cpu_minutes: f64,
}

/// Self-play on other machines, for `train --fleet`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetSettings {
    /// Games in parallel per thread of a worker.
    pub games: usize,
    /// Training steps from one network for the workers to the next.
    pub publish: u64,
    /// A file is dropped if the weights that played it are more than this many training steps old.
    pub max_age: u64,
    /// The maximum number of files that wait for the learner on the server. When it is reached, workers wait.
    pub queue: u64,
    /// The largest share that a key may have of the newest samples, as many as the replay buffer holds, while other keys
    /// send some; 1 for no limit.
    pub share: f64,
}

impl FleetSettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 5] = [
        ("games", Bounds::Whole(PARALLEL_GAMES)),
        ("publish", Bounds::whole(1, STEPS.most)),
        ("max_age", Bounds::Whole(STEPS)),
        ("queue", Bounds::whole(1, 1_000_000)),
        ("share", Bounds::real(0.01, 1.0)),
    ];
}

impl RunSettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 11] = [
        ("seed", Bounds::whole(0, i64::MAX as u64)), // TOML has no larger numbers
        ("threads", Bounds::Whole(THREADS.or_zero())),
        ("batch", Bounds::Whole(BATCH)),
        ("reuse", Bounds::real(0.001, 1000.0)),
        ("first_samples", ReplaySettings::BOUNDS[0].1),
        ("checkpoint", Bounds::whole(1, STEPS.most)),
        ("keep", Bounds::whole(1, 1_000_000)),
        RunSettings::LIMITS[0],
        RunSettings::LIMITS[1],
        RunSettings::LIMITS[2],
        RunSettings::LIMITS[3],
    ];

    /// The limits of a run with their bounds. They do not change what a run learns.
    pub const LIMITS: [(&str, Bounds); 4] = [
        ("steps", Bounds::Whole(STEPS)),
        ("games", Bounds::Whole(STEPS)),
        ("minutes", Bounds::Real(MINUTES)),
        ("cpu_minutes", Bounds::Real(CPU_MINUTES)),
    ];

    /// The limits that are set, as pairs of a number and its unit.
    pub fn limits(&self) -> Vec<(f64, &'static str)> {
        let limits = [
            (self.steps as f64, "steps"),
            (self.games as f64, "games"),
            (self.minutes, "minutes"),
            (self.cpu_minutes, "cpu-minutes"),
        ];
        limits.into_iter().filter(|(most, _)| *most > 0.0).collect()
    }

    /// How much of the nearest limit is used up, from 0 to 1; `None` without a limit.
    pub fn done(&self, steps: u64, games: u64, seconds: f64, cpu_seconds: f64) -> Option<f64> {
        let parts = [
            (steps as f64, self.steps as f64),
            (games as f64, self.games as f64),
            (seconds, 60.0 * self.minutes),
            (cpu_seconds, 60.0 * self.cpu_minutes),
        ];
        let limited = parts.into_iter().filter(|(_, limit)| *limit > 0.0);
        limited.map(|(count, limit)| (count / limit).min(1.0)).max_by(f64::total_cmp)
    }

    /// The settings of the inner loop.
    pub fn trainer(&self) -> TrainerSettings {
        let &RunSettings { seed, batch, reuse, first_samples, steps, .. } = self;
        TrainerSettings { seed, batch, reuse, first_samples, steps }
    }

    /// The threads of self-play.
    pub fn playing_threads(&self) -> usize {
        match self.threads {
            0 => cores(),
            threads => threads,
        }
    }
}

impl Config {
    /// The step of the first matches: at the latest that of the first checkpoint, so that a run shows its strength
    /// early. `None` without matches.
    pub fn first_matches(&self) -> Option<u64> {
        let every = self.evaluation.every;
        (every > 0).then(|| every.min(self.run.checkpoint))
    }

    /// Rejects settings that are out of range or contradict each other. Whether the game exists is not checked.
    pub fn validate(&self) -> Result<(), TrainError> {
        let table = toml::Table::try_from(self).map_err(TrainError::new)?;
        check::bounds(&table)?;
        check::each(self)?;
        check::together(self)
    }
}
