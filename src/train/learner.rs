//! The learner: batches in, better weights out, and the averaged weights that play.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::adam::{Adam, AdamConfig};
use super::backprop::{Backprop, Gradients, LossWeights, Losses, Pass};
use super::batch::TrainBatch;
use super::device::OpenDevice;
use super::judge::Judgement;
use crate::net::{FeatureBatch, NetConfig, NetShape, Tensor, Weights};
use crate::random::Stream;

/// Numbers by the name of their tensor.
pub type Numbers = BTreeMap<String, Vec<f32>>;

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
    /// Longer gradients are cut to this length.
    pub clip: f32,
    /// How much of the averaged weights is kept in a step.
    pub average: f32,
    /// A batch with a larger loss stops the learner.
    pub explode: f32,
    /// The optimizer.
    pub adam: AdamConfig,
    /// How much each part of the loss counts.
    pub loss: LossWeights,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnError(String);

impl fmt::Display for LearnError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for LearnError {}

/// A network that learns.
pub struct Learner {
    pub(super) config: LearnerConfig,
    pub(super) net: NetConfig,
    pub(super) shape: NetShape,
    pub(super) weights: Numbers,
    pub(super) average: Numbers,
    pub(super) adam: Adam,
    backprop: Backprop,
}

impl Learner {
    /// Starts from random weights.
    ///
    /// # Panics
    /// Panics if the architecture is not valid.
    pub fn new(
        config: LearnerConfig,
        net: NetConfig,
        shape: NetShape,
        stream: &mut Stream,
    ) -> Learner {
        Learner::from_weights(config, &Weights::random(net, shape, stream))
    }

    /// Starts from these weights.
    pub fn from_weights(config: LearnerConfig, weights: &Weights) -> Learner {
        let numbers = numbers_of(weights);
        let (net, shape) = (weights.config(), *weights.shape());
        let adam = Adam::new(&numbers);
        Learner::from_parts(config, (net, shape), numbers.clone(), numbers, adam)
    }

    pub(super) fn from_parts(
        config: LearnerConfig,
        (net, shape): (NetConfig, NetShape),
        weights: Numbers,
        average: Numbers,
        adam: Adam,
    ) -> Learner {
        Learner {
            config,
            net,
            shape,
            weights,
            average,
            adam,
            backprop: Backprop::new(net, shape, &OpenDevice::cpu()),
        }
    }

    /// The same learner, computing on another device.
    #[must_use]
    pub fn on(self, device: &OpenDevice) -> Learner {
        Learner {
            backprop: Backprop::new(self.net, self.shape, device),
            ..self
        }
    }

    /// Learns from one batch, or leaves everything as it is and says why.
    ///
    /// # Panics
    /// Panics if the batch is empty or made for another shape.
    pub fn step(&mut self, batch: &TrainBatch) -> Result<Progress, LearnError> {
        let parts = &self.config.loss;
        let Pass {
            losses,
            judgement,
            gradients,
        } = self.backprop.pass(&self.weights, batch, parts);
        let gradient_norm = norm(&gradients);
        self.check(&losses, gradient_norm)?;
        let rate = self.rate();
        let scale = (self.config.clip / gradient_norm).min(1.0);
        self.adam.step(
            &self.config.adam,
            rate,
            &mut self.weights,
            &gradients,
            scale,
        );
        self.update_average();
        Ok(Progress {
            step: self.steps(),
            losses,
            judgement,
            gradient_norm,
            rate,
        })
    }

    /// The architecture.
    pub fn net(&self) -> NetConfig {
        self.net
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// The weights that learn.
    pub fn weights(&self) -> Weights {
        self.plain(&self.weights)
    }

    /// The averaged weights: those that play and are exported.
    pub fn average(&self) -> Weights {
        self.plain(&self.average)
    }

    /// The weights that learn, as plain numbers.
    pub fn numbers(&self) -> &Numbers {
        &self.weights
    }

    /// The logits of all heads as burn computes them, `[rows, outputs]`: policy, result, score.
    pub fn logits(&self, batch: &FeatureBatch) -> Vec<f32> {
        self.backprop.logits(&self.weights, batch)
    }

    /// The loss of a batch and its gradients, without learning from it.
    ///
    /// # Panics
    /// Panics if the batch is empty or made for another shape.
    pub fn gradients(&self, batch: &TrainBatch) -> (Losses, Gradients) {
        let parts = &self.config.loss;
        let pass = self.backprop.pass(&self.weights, batch, parts);
        (pass.losses, pass.gradients)
    }

    /// The loss that a batch would have with other weights of the same network.
    ///
    /// # Panics
    /// Panics if the batch is empty or made for another shape.
    pub fn loss_of(&self, weights: &Numbers, batch: &TrainBatch) -> Losses {
        let parts = &self.config.loss;
        self.backprop.pass(weights, batch, parts).losses
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
                 length {gradient_norm}; lower learner.rate or learner.clip and go on from the last \
                 checkpoint",
                losses.total, losses.policy, losses.result, losses.score
            )));
        }
        if losses.total > self.config.explode {
            return Err(LearnError(format!(
                "step {step}: the loss is {}, above learner.explode = {}; lower learner.rate or \
                 learner.clip and go on from the last checkpoint",
                losses.total, self.config.explode
            )));
        }
        Ok(())
    }

    /// Moves the averages towards the weights, faster in the first steps, so that the random start
    /// is soon forgotten.
    fn update_average(&mut self) {
        let steps = self.steps() as f32;
        let keep = self.config.average.min((1.0 + steps) / (10.0 + steps));
        for (name, average) in &mut self.average {
            for (average, weight) in average.iter_mut().zip(&self.weights[name]) {
                *average += (1.0 - keep) * (weight - *average);
            }
        }
    }

    fn plain(&self, numbers: &Numbers) -> Weights {
        let plans = self.net.tensors(&self.shape);
        let tensors = plans.into_iter().map(|plan| {
            let data = numbers[&plan.name].clone();
            let dims = plan.dims;
            (plan.name, Tensor { dims, data })
        });
        Weights::new(self.net, self.shape, tensors.collect())
            .expect("finite weights of the architecture")
    }
}

/// Weights as plain numbers.
pub(super) fn numbers_of(weights: &Weights) -> Numbers {
    let tensors = weights.tensors().iter();
    tensors
        .map(|(name, tensor)| (name.clone(), tensor.data.clone()))
        .collect()
}

/// The length of all gradients together. Squares are added in 64 bits.
fn norm(gradients: &Gradients) -> f32 {
    let squares = gradients
        .values()
        .flatten()
        .map(|&g| f64::from(g) * f64::from(g));
    squares.sum::<f64>().sqrt() as f32
}
