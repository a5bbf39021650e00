//! The half of the loop that learns: the replay buffer, and training steps on its samples.

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::TrainError;
use crate::device::OpenDevice;
use crate::learner::{Learner, StepStats};
use crate::registry::random_weights;
use jarmo_core::encode::Mirror;
use jarmo_core::net::{NetKind, NetShape, Weights};
use jarmo_core::random::stream;
use jarmo_selfplay::replay::{Samples, Window};

/// The minimum number of samples in a file. Self-play hands its samples to the trainer in files.
pub const FILE_SAMPLES: usize = 4096;

/// The index of the random stream that draws the initial weights.
const WEIGHTS: u64 = u64::MAX;

/// The index of the random stream that draws samples; the number of training steps is added to it.
const DRAWS: u64 = 1 << 63;

/// How self-play and learning alternate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainerSettings {
    /// The seed of everything random.
    pub seed: u64,
    /// Samples per training step.
    pub batch: usize,
    /// How often a sample is used on average: there are `reuse / batch` training steps per new sample.
    pub reuse: f64,
    /// Samples to collect before learning starts.
    pub first_samples: usize,
    /// The limit of training steps; 0 for no limit.
    pub steps: u64,
}

/// The replay buffer and the learner, and how many training steps are due.
pub struct Trainer {
    settings: TrainerSettings,
    /// The network in training.
    pub learner: Learner,
    /// The replay buffer.
    pub window: Window,
    batch: Samples,
    mirror: Option<Mirror>, // half of all samples are mirrored
    /// Training steps due for the samples so far.
    pub owed: f64,
}

impl Trainer {
    /// A trainer of a game with this symmetry. `owed` is 0 in a new run.
    pub fn new(
        settings: TrainerSettings,
        mirror: Option<Mirror>,
        learner: Learner,
        window: Window,
        owed: f64,
    ) -> Trainer {
        Trainer { settings, learner, window, batch: Samples::new(), mirror, owed }
    }

    /// Adds a file of samples to the replay buffer, and makes training steps due for `due_for` samples. Returns the
    /// number of the file.
    pub fn add(&mut self, samples: Samples, due_for: usize) -> u64 {
        self.owed += self.steps_for(due_for);
        let number = self.window.next();
        self.window.push(samples);
        number
    }

    /// Whether at least as many steps are due as one cycle can take, so that more samples would only wait.
    pub fn is_behind(&self) -> bool {
        self.window.len() >= self.settings.first_samples && self.owed >= self.most_steps() as f64
    }

    /// The maximum number of training steps in a cycle, which is limited because a cycle is not interrupted: those for
    /// four files of the usual size, or for the newest file if it is larger, which happens with very many games.
    fn most_steps(&self) -> u64 {
        let newest = self.window.files().last().map_or(0, |(_, samples)| samples.len());
        self.steps_for(newest.max(4 * FILE_SAMPLES)).ceil() as u64
    }

    /// The training steps for this many samples: `reuse / batch` for each.
    fn steps_for(&self, samples: usize) -> f64 {
        samples as f64 * self.settings.reuse / self.settings.batch as f64
    }

    /// Training steps to take in this cycle.
    pub fn steps_due(&self) -> u64 {
        if self.window.len() < self.settings.first_samples {
            return 0;
        }
        let left = match self.settings.steps {
            0 => u64::MAX,
            limit => limit.saturating_sub(self.learner.steps()),
        };
        (self.owed.max(0.0) as u64).min(left).min(self.most_steps())
    }

    /// Takes one step, on a batch drawn from the replay buffer.
    pub fn step(&mut self) -> Result<StepStats, TrainError> {
        self.owed -= 1.0;
        let mut draws = stream(self.settings.seed, DRAWS + self.learner.steps());
        self.batch.clear();
        for _ in 0..self.settings.batch {
            let sample = self.window.draw(&mut draws);
            match &self.mirror {
                Some(mirror) if draws.next_u64() & 1 == 1 => self.batch.push_mirrored(sample, mirror),
                _ => self.batch.push(sample),
            }
        }
        self.learner.step(&self.batch)
    }

    /// Takes this many steps, and completes the averaged weights.
    pub fn learn(&mut self, steps: u64) -> Result<Vec<StepStats>, TrainError> {
        let taken = (0..steps).map(|_| self.step()).collect::<Result<Vec<StepStats>, TrainError>>()?;
        if steps > 0 {
            self.learner.end_turn()?;
        }
        Ok(taken)
    }
}

/// The weights that a run starts from: random ones, or those of an agent, whose network grows if `net` is larger.
pub fn first_weights(
    net: &NetKind,
    shape: NetShape,
    agent: Option<&Weights>,
    seed: u64,
    device: &OpenDevice,
) -> Result<Weights, TrainError> {
    let mut stream = stream(seed, WEIGHTS);
    let weights = match (net, agent) {
        (NetKind::Custom { custom }, None) => random_weights(custom, &shape, stream.next_u64(), device)?,
        (net, None) => Weights::random(net.clone(), shape, &mut stream),
        (NetKind::BuiltIn(net), Some(agent)) => agent.grown(*net, &mut stream).map_err(TrainError::new)?,
        (_, Some(agent)) => agent.clone(),
    };
    weights.check_range().map_err(TrainError::new)?;
    Ok(weights)
}
