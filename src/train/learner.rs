//! The learner: batches in, better weights out, and the averaged weights that play.

use serde::{Deserialize, Serialize};

use super::adam::Adam;
use super::backprop::{Backprop, Gradients, Losses, Pass};
use super::batch::TrainBatch;
use super::device::OpenDevice;
use super::judge::Judgement;
use crate::net::Weights;

/// Longer gradients are cut to this length.
const CLIP: f32 = 5.0;

/// A batch with a larger loss stops the learner.
const EXPLODE: f32 = 100.0;

/// Settings of the learner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerConfig {
    /// The highest learning rate.
    pub rate: f32,
    /// Steps in which the rate climbs from nothing to its highest.
    pub warm_up: u64,
    /// Steps after the warm-up in which the rate falls, along half a cosine, to its lowest; 0 for a
    /// rate that stays.
    pub decay: u64,
    /// The lowest rate as a share of the highest.
    pub lowest: f32,
    /// How much of the averaged weights is kept in a step.
    pub average: f32,
}

/// What one step came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken, this one included.
    pub step: u64,
    /// The loss before the step.
    pub losses: Losses,
    /// How well the network knew the batch before the step.
    pub judgement: Judgement,
    /// The length of all gradients together, before they were cut.
    pub gradient_norm: f32,
    /// The learning rate of the step.
    pub rate: f32,
}

/// Why the learner stopped. The weights are those before the step that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LearnError(String);

/// A network that learns.
pub struct Learner {
    config: LearnerConfig,
    pub(super) weights: Weights,
    pub(super) average: Weights,
    pub(super) adam: Adam,
    backprop: Backprop,
}

impl Learner {
    /// Starts from these weights.
    pub fn new(config: LearnerConfig, weights: Weights) -> Learner {
        let (average, adam) = (weights.clone(), Adam::new(&weights));
        Learner::from_parts(config, weights, average, adam)
    }

    pub(super) fn from_parts(
        config: LearnerConfig,
        weights: Weights,
        average: Weights,
        adam: Adam,
    ) -> Learner {
        Learner {
            config,
            weights,
            average,
            adam,
            backprop: Backprop::new(&OpenDevice::cpu()),
        }
    }

    /// The same learner, computing on another device.
    #[must_use]
    pub fn on(self, device: &OpenDevice) -> Learner {
        Learner {
            backprop: Backprop::new(device),
            ..self
        }
    }

    /// Learns from one batch, or leaves everything as it is and says why.
    ///
    /// # Panics
    /// Panics if the batch is empty or made for another shape.
    pub fn step(&mut self, batch: &TrainBatch) -> Result<Progress, LearnError> {
        let Pass {
            losses,
            judgement,
            gradients,
        } = self.backprop.pass(&self.weights, batch);
        let gradient_norm = norm(&gradients);
        self.check(&losses, gradient_norm)?;
        let rate = self.rate();
        let scale = (CLIP / gradient_norm).min(1.0);
        self.adam.step(rate, &mut self.weights, &gradients, scale);
        self.update_average();
        Ok(Progress {
            step: self.steps(),
            losses,
            judgement,
            gradient_norm,
            rate,
        })
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// The weights that learn.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The averaged weights: those that play and are exported.
    pub fn average(&self) -> &Weights {
        &self.average
    }

    /// The loss that a batch has with these weights, and its gradients, without learning from it.
    ///
    /// # Panics
    /// Panics if the batch is empty or made for another shape.
    pub fn loss_of(&self, weights: &Weights, batch: &TrainBatch) -> (Losses, Gradients) {
        let pass = self.backprop.pass(weights, batch);
        (pass.losses, pass.gradients)
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f32 {
        let LearnerConfig {
            rate,
            warm_up,
            decay,
            lowest,
            ..
        } = self.config;
        let next = self.steps() + 1;
        if next < warm_up {
            return rate * (next as f32 / warm_up as f32);
        }
        if decay == 0 {
            return rate;
        }
        let share = ((next - warm_up) as f32 / decay as f32).min(1.0);
        let height = 0.5 * (1.0 + (std::f32::consts::PI * share).cos());
        rate * (lowest + (1.0 - lowest) * height)
    }

    fn check(&self, losses: &Losses, gradient_norm: f32) -> Result<(), LearnError> {
        let step = self.steps() + 1;
        if !losses.total.is_finite() || !gradient_norm.is_finite() {
            return Err(LearnError(format!(
                "step {step}: the loss is {} (policy {}, result {}, score {}) with gradients of \
                 length {gradient_norm}; lower learner.rate and go on from the last checkpoint",
                losses.total, losses.policy, losses.result, losses.score
            )));
        }
        if losses.total > EXPLODE {
            return Err(LearnError(format!(
                "step {step}: the loss is {}, above {EXPLODE}; lower learner.rate and go on from the \
                 last checkpoint",
                losses.total
            )));
        }
        Ok(())
    }

    /// Moves the averages towards the weights, faster in the first steps, so that the random start
    /// is soon forgotten.
    fn update_average(&mut self) {
        let steps = self.steps() as f32;
        let keep = self.config.average.min((1.0 + steps) / (10.0 + steps));
        let pairs = self.average.tensors_mut().zip(self.weights.tensors());
        for ((_, average), (_, weights)) in pairs {
            for (average, weight) in average.data.iter_mut().zip(&weights.data) {
                *average += (1.0 - keep) * (weight - *average);
            }
        }
    }
}

/// The length of all gradients together. Squares are added in 64 bits.
fn norm(gradients: &Gradients) -> f32 {
    let squares = gradients
        .values()
        .flatten()
        .map(|&g| f64::from(g) * f64::from(g));
    squares.sum::<f64>().sqrt() as f32
}
