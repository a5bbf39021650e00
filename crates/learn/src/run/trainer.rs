//! The half of a run that learns: the replay window, and gradient steps on its samples.

use std::time::{Duration, Instant};

use rand::Rng;

use super::resume::LEARNER;
use super::state::Saved;
use super::{FILE_SAMPLES, RunError, RunFolder};
use crate::config::Config;
use crate::train::{Learner, OpenDevice, StepStats, trainable};
use jarmo_core::encode::Mirror;
use jarmo_core::net::{NetKind, NetShape, Weights};
use jarmo_core::random::stream;
use jarmo_exact::catalog::CatalogGame;
use jarmo_selfplay::replay::{Replay, Samples};

/// The index of the random stream that draws the initial weights.
const WEIGHTS: u64 = u64::MAX;

/// The index of the random stream that draws samples, plus the learning steps.
const DRAWS: u64 = 1 << 63;

pub(super) struct Trainer<'a> {
    config: &'a Config,
    pub(super) learner: Learner,
    pub(super) replay: Replay,
    batch: Samples,
    mirror: Option<Mirror>, // half of all samples are mirrored
    pub(super) owed: f64,   // learning steps due for the samples so far
}

pub(super) struct Learned {
    pub(super) steps: Vec<StepStats>,
    pub(super) time: Duration,
}

impl<'a> Trainer<'a> {
    pub(super) fn new<G: CatalogGame>(
        game: &G,
        config: &'a Config,
        learner: Learner,
        replay: Replay,
        owed: f64,
    ) -> Trainer<'a> {
        Trainer { config, learner, replay, batch: Samples::new(), mirror: game.mirror(), owed }
    }

    /// Adds a file of samples to the window. Learning steps are due for so many of them. Returns the number of the file.
    pub(super) fn add(&mut self, samples: Samples, due_for: usize) -> u64 {
        self.owed += self.steps_for(due_for);
        let number = self.replay.next();
        self.replay.push(samples);
        number
    }

    /// Whether as many steps are due as one turn takes, so that more samples would only wait.
    pub(super) fn is_behind(&self) -> bool {
        self.replay.len() >= self.config.run.first_samples && self.owed >= self.most_steps() as f64
    }

    /// The most learning steps of a turn, because a turn is not interrupted.
    fn most_steps(&self) -> u64 {
        (4.0 * self.steps_for(FILE_SAMPLES)).max(1.0) as u64
    }

    /// The learning steps for so many samples: `reuse / batch` for each.
    fn steps_for(&self, samples: usize) -> f64 {
        let run = &self.config.run;
        samples as f64 * run.reuse / run.batch as f64
    }

    /// Learning steps to take in this turn.
    pub(super) fn steps_due(&self) -> u64 {
        let run = &self.config.run;
        if self.replay.len() < run.first_samples {
            return 0;
        }
        let left = match run.steps {
            0 => u64::MAX,
            limit => limit.saturating_sub(self.learner.steps()),
        };
        (self.owed.max(0.0) as u64).min(left).min(self.most_steps())
    }

    /// Takes this many steps, each on a batch drawn from the window.
    pub(super) fn learn(&mut self, steps: u64) -> Result<Learned, RunError> {
        let begun = Instant::now();
        self.owed -= steps as f64;
        let mut taken = Vec::new();
        for _ in 0..steps {
            let mut draws = stream(self.config.run.seed, DRAWS + self.learner.steps());
            self.batch.clear();
            for _ in 0..self.config.run.batch {
                let sample = self.replay.draw(&mut draws);
                match &self.mirror {
                    Some(mirror) if draws.next_u64() & 1 == 1 => {
                        self.batch.push_mirrored(sample, mirror);
                    }
                    _ => self.batch.push(sample),
                }
            }
            taken.push(self.learner.step(&self.batch)?);
        }
        if steps > 0 {
            self.learner.end_turn()?;
        }
        Ok(Learned { steps: taken, time: begun.elapsed() })
    }
}

/// The learner of a new run: random weights, or those of the agent that the run starts from.
pub(super) fn first_learner<G: CatalogGame>(
    game: &G,
    config: &Config,
    folder: &RunFolder,
    device: &OpenDevice,
) -> Result<Learner, RunError> {
    let (shape, mut stream) = (NetShape::of(game), stream(config.run.seed, WEIGHTS));
    let weights = match (config.net_kind(), folder.first_weights(game)?) {
        (NetKind::BuiltIn(net), None) => Weights::random(net, shape, &mut stream),
        (NetKind::BuiltIn(net), Some(agent)) => agent.weights().grown(net, &mut stream).map_err(RunError::new)?,
        (net, None) => trainable(&net)?.random(stream.next_u64(), &shape, device),
        (NetKind::Own { .. }, Some(agent)) => agent.weights().clone(),
    };
    weights.check_range().map_err(RunError::new)?;
    Ok(Learner::new(config.learner, weights, device))
}

pub(super) fn saved_learner(
    config: &Config,
    folder: &RunFolder,
    saved: &Saved,
    device: &OpenDevice,
) -> Result<Learner, RunError> {
    let asked = config.net_kind();
    trainable(&asked)?;
    let file = folder.part_path(&saved.counters, LEARNER);
    let learner = Learner::from_bytes(config.learner, device, &saved.learner);
    let learner = learner.map_err(|error| folder.broken(&file, error))?;
    if *learner.net() == asked {
        return Ok(learner);
    }
    Err(RunError(format!(
        "{}: the run trains a network {}, but its config.toml asks for {asked}; restore the [net] of the run, or start \
         another run",
        folder.name(),
        learner.net(),
    )))
}
