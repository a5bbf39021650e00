//! The learner: gradient steps on batches, and the averaged weights that play.

use serde::{Deserialize, Serialize};

use super::adam::Adam;
use super::backprop::{Backprop, Gradients, Losses, Pass};
use super::device::OpenDevice;
use super::predictions::Predictions;
use crate::RunError;
use jarmo_core::net::Weights;
use jarmo_core::numbers::{Bounds, STEPS};
use jarmo_selfplay::replay::Samples;

/// The final learning rate as a share of the highest.
const LOWEST: f32 = 0.05;

/// Gradients are clipped to this norm.
pub(super) const CLIP: f32 = 5.0;

/// A larger loss stops the learner.
const EXPLODE: f32 = 100.0;

/// Settings of the learner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerSettings {
    /// The highest learning rate.
    pub rate: f32,
    /// Steps in which the rate rises linearly from 0.
    pub warm_up: u64,
    /// Steps of the cosine decay to 5 % after the warm-up; 0 for no decay.
    pub decay: u64,
    /// Decay of the averaged weights per step.
    pub average: f32,
}

impl LearnerSettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 4] = [
        ("rate", Bounds::real(1e-10, 1000.0)),
        ("warm_up", Bounds::Whole(STEPS)),
        ("decay", Bounds::Whole(STEPS)),
        ("average", Bounds::SHARE),
    ];

    /// The learning rate of this step; the first one is 1.
    pub(super) fn rate_of(&self, step: u64) -> f32 {
        let LearnerSettings { rate, warm_up, decay, .. } = *self;
        if step < warm_up {
            return rate * (step as f32 / warm_up as f32);
        }
        if decay == 0 {
            return rate;
        }
        let share = ((step - warm_up) as f32 / decay as f32).min(1.0);
        let height = 0.5 * (1.0 + (std::f32::consts::PI * share).cos());
        rate * (LOWEST + (1.0 - LOWEST) * height)
    }

    /// The share of the averages that stays after so many steps. It is lower in the first steps, so that the random
    /// initial weights soon stop mattering.
    pub(super) fn keep_after(&self, steps: u64) -> f32 {
        let steps = steps as f32;
        self.average.min((1.0 + steps) / (10.0 + steps))
    }

    /// Refuses the losses and gradients of a step that would spoil the weights.
    pub(super) fn check(&self, step: u64, losses: &Losses, gradient_norm: f32) -> Result<(), RunError> {
        if !losses.total.is_finite() || !gradient_norm.is_finite() {
            return Err(RunError(format!(
                "step {step}: the loss is {} (policy {}, result {}, score {}) with a gradient norm of \
                 {gradient_norm}; lower learner.rate and resume from the last checkpoint",
                losses.total, losses.policy, losses.result, losses.score
            )));
        }
        if losses.total > EXPLODE {
            return Err(RunError(format!(
                "step {step}: the loss is {}, above {EXPLODE}; lower learner.rate and resume from the \
                 last checkpoint",
                losses.total
            )));
        }
        Ok(())
    }
}

/// What a run needs of a learner.
pub(crate) trait Learning: Send {
    /// Takes one step. On an error nothing changes.
    fn step(&mut self, batch: &Samples) -> Result<StepStats, RunError>;

    /// Steps taken.
    fn steps(&self) -> u64;

    /// The averaged weights of the last turn, which play and are exported.
    fn average(&self) -> &Weights;

    /// Completes the averaged weights after the steps of a turn. Refuses those that no network can be computed with.
    fn end_turn(&mut self) -> Result<(), RunError>;

    /// Everything that the next step depends on, but for the settings.
    fn to_bytes(&self) -> Vec<u8>;
}

impl Learning for Learner {
    fn step(&mut self, batch: &Samples) -> Result<StepStats, RunError> {
        Learner::step(self, batch)
    }

    fn steps(&self) -> u64 {
        Learner::steps(self)
    }

    fn average(&self) -> &Weights {
        Learner::average(self)
    }

    fn end_turn(&mut self) -> Result<(), RunError> {
        self.check_average()
    }

    fn to_bytes(&self) -> Vec<u8> {
        Learner::to_bytes(self)
    }
}

/// The result of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepStats {
    /// Steps taken, this one included.
    pub step: u64,
    /// The loss before the step.
    pub losses: Losses,
    /// The predictions before the step.
    pub predictions: Predictions,
    /// The norm of all gradients before clipping.
    pub gradient_norm: f32,
    /// The learning rate of the step.
    pub rate: f32,
}

/// A network in training, with its optimizer and averaged weights.
pub struct Learner {
    settings: LearnerSettings,
    pub(super) weights: Weights,
    pub(super) average: Weights,
    pub(super) adam: Adam,
    backprop: Backprop,
}

impl Learner {
    /// A learner that starts from these weights.
    pub fn new(settings: LearnerSettings, weights: Weights) -> Learner {
        let (average, adam) = (weights.clone(), Adam::new(&weights));
        Learner::from_parts(settings, weights, average, adam)
    }

    pub(super) fn from_parts(settings: LearnerSettings, weights: Weights, average: Weights, adam: Adam) -> Learner {
        Learner { settings, weights, average, adam, backprop: Backprop::new(&OpenDevice::cpu()) }
    }

    /// The same learner on another device.
    #[must_use]
    pub fn on(self, device: &OpenDevice) -> Learner {
        Learner { backprop: Backprop::new(device), ..self }
    }

    /// Takes one step. On an error nothing changes.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    pub fn step(&mut self, batch: &Samples) -> Result<StepStats, RunError> {
        let Pass { losses, predictions, gradients } = self.backprop.pass(&self.weights, batch);
        let gradient_norm = norm(&gradients);
        self.settings.check(self.steps() + 1, &losses, gradient_norm)?;
        let rate = self.rate();
        let scale = (CLIP / gradient_norm).min(1.0);
        self.adam.step(rate, &mut self.weights, &gradients, scale);
        self.update_average();
        Ok(StepStats { step: self.steps(), losses, predictions, gradient_norm, rate })
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// The weights in training.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The averaged weights, which play and are exported.
    pub fn average(&self) -> &Weights {
        &self.average
    }

    /// Refuses averaged weights with which a network could overflow.
    pub fn check_average(&self) -> Result<(), RunError> {
        self.average.check_range().map_err(|error| {
            RunError(format!("step {}: {error}; lower learner.rate and resume from the last checkpoint", self.steps()))
        })
    }

    /// The losses and gradients of a batch with these weights. The learner does not change.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    pub fn loss_of(&self, weights: &Weights, batch: &Samples) -> (Losses, Gradients) {
        let pass = self.backprop.pass(weights, batch);
        (pass.losses, pass.gradients)
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f32 {
        self.settings.rate_of(self.steps() + 1)
    }

    /// Moves the averages towards the weights.
    fn update_average(&mut self) {
        let keep = self.settings.keep_after(self.steps());
        let pairs = self.average.tensors_mut().zip(self.weights.tensors());
        for ((_, average), (_, weights)) in pairs {
            for (average, weight) in average.data.iter_mut().zip(&weights.data) {
                *average += (1.0 - keep) * (weight - *average);
            }
        }
    }
}

/// The norm of all gradients. Squares are summed in 64 bits.
fn norm(gradients: &Gradients) -> f32 {
    let squares = gradients.values().flatten().map(|&g| f64::from(g) * f64::from(g));
    squares.sum::<f64>().sqrt() as f32
}
