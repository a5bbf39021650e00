//! The learner: gradient steps on batches, and the averaged weights that play.

use serde::{Deserialize, Serialize};

use super::device::OpenDevice;
use super::loss::Losses;
use super::network::trainable;
use super::predictions::Predictions;
use super::tensors::Tensors;
use super::trainee::{Records, Training};
use crate::RunError;
use jarmo_core::error::FileError;
use jarmo_core::net::container::{Array, Format, numbers};
use jarmo_core::net::{NetError, NetKind, NetShape, Weights};
use jarmo_core::numbers::{Bounds, STEPS};
use jarmo_selfplay::replay::Samples;

const FORMAT: Format = Format { key: "jarmo_learner", what: "learner", version: 4 };

/// The names of the records in a learner's file, which are as burn writes them.
const RECORDS: [&str; 3] = ["module", "average", "optimizer"];

/// The final learning rate as a share of the highest.
const LOWEST: f32 = 0.05;

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
    fn rate_of(&self, step: u64) -> f32 {
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
    fn keep_after(&self, steps: u64) -> f32 {
        let steps = steps as f32;
        self.average.min((1.0 + steps) / (10.0 + steps))
    }

    /// Refuses the losses and gradients of a step that would spoil the weights.
    fn check(&self, step: u64, losses: &Losses, gradient_norm: f32) -> Result<(), RunError> {
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
    at: Header,
    average: Weights, // after the last turn
    training: Box<dyn Training>,
}

/// What a learner's file says beside its records.
#[derive(Serialize, Deserialize)]
struct Header {
    net: NetKind,
    shape: NetShape,
    steps: u64,
}

impl Learner {
    /// A learner that starts from these weights.
    ///
    /// # Panics
    /// Panics if they are of a network of one's own that is not registered.
    pub fn new(settings: LearnerSettings, weights: Weights, device: &OpenDevice) -> Learner {
        let network = trainable(weights.net()).expect("weights are of a network that is known");
        Learner {
            settings,
            at: Header { net: weights.net().clone(), shape: *weights.shape(), steps: 0 },
            training: network.begin(&weights, device),
            average: weights,
        }
    }

    /// A learner as it was when its bytes were written, with these settings. Averaged weights that could overflow are
    /// refused.
    pub fn from_bytes(settings: LearnerSettings, device: &OpenDevice, bytes: &[u8]) -> Result<Learner, FileError> {
        let (at, arrays) = FORMAT.read::<Header>(bytes)?;
        let mut records = Records::default();
        for (record, name) in records.iter_mut().zip(RECORDS) {
            *record = numbers(&arrays, name)?;
        }
        let network = trainable(&at.net).map_err(|error| error.to_string())?;
        let training = network.resume(at.shape, records, device)?;
        let average = checked(&at, training.average()).map_err(|error| error.to_string())?;
        Ok(Learner { settings, at, average, training })
    }

    /// Everything that the next step depends on, but for the settings.
    pub fn to_bytes(&self) -> Vec<u8> {
        let records = RECORDS.iter().zip(self.training.records());
        let arrays: Vec<Array> = records.map(|(name, bytes)| Array::flat(name, &bytes)).collect();
        FORMAT.write(&self.at, &arrays)
    }

    /// Takes one step. On an error nothing changes.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    pub fn step(&mut self, batch: &Samples) -> Result<StepStats, RunError> {
        let pass = self.training.pass(batch);
        let step = self.at.steps + 1;
        self.settings.check(step, &pass.losses, pass.norm)?;
        let (losses, predictions, gradient_norm) = (pass.losses, pass.predictions.clone(), pass.norm);
        let rate = self.rate();
        self.training.step(pass, rate, self.settings.keep_after(step));
        self.at.steps = step;
        Ok(StepStats { step, losses, predictions, gradient_norm, rate })
    }

    /// Completes the averaged weights after the steps of a turn. Refuses those with which a network could overflow.
    pub fn end_turn(&mut self) -> Result<(), RunError> {
        self.average = checked(&self.at, self.training.average()).map_err(|error| {
            RunError(format!("step {}: {error}; lower learner.rate and resume from the last checkpoint", self.at.steps))
        })?;
        Ok(())
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.at.steps
    }

    /// Which network learns.
    pub fn net(&self) -> &NetKind {
        &self.at.net
    }

    /// The weights in training.
    pub fn weights(&self) -> Weights {
        Weights::of(&self.at.net, self.at.shape, self.training.weights()).expect("a step leaves finite weights")
    }

    /// The averaged weights of the last turn, which play and are exported.
    pub fn average(&self) -> &Weights {
        &self.average
    }

    /// The losses and gradients of a batch. Nothing is learned.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    pub fn loss_of(&mut self, batch: &Samples) -> (Losses, Tensors) {
        let pass = self.training.pass(batch);
        (pass.losses, self.training.gradients(pass))
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f32 {
        self.settings.rate_of(self.at.steps + 1)
    }
}

/// Refuses weights with which a network could overflow.
fn checked(at: &Header, tensors: Tensors) -> Result<Weights, NetError> {
    let weights = Weights::of(&at.net, at.shape, tensors)?;
    weights.check_range()?;
    Ok(weights)
}
