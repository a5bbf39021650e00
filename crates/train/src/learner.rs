//! The learner: training steps on batches, and the averaged weights with which self-play and agents play.

use serde::{Deserialize, Serialize};

use crate::TrainError;
use crate::device::OpenDevice;
use crate::loss::Losses;
use crate::registry::{trainable, with_weights};
use crate::tensors::Tensors;
use crate::trainee::{AnyTrainee, Measures, Records};
use jarmo_core::error::FileError;
use jarmo_core::net::container::{Array, Format, numbers};
use jarmo_core::net::{NetError, NetKind, NetShape, Weights};
use jarmo_core::numbers::{Bounds, STEPS};
use jarmo_selfplay::replay::Samples;

const FORMAT: Format = Format { key: "jarmo_learner", what: "learner", version: 4 };

/// The names of the records in a learner's file. The records have burn's format.
const RECORDS: [&str; 3] = ["module", "average", "optimizer"];

/// The final learning rate as a fraction of the highest.
const LOWEST: f32 = 0.05;

/// On a GPU, one step in so many is measured.
const MEASURED_EVERY: u64 = 20;

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
    /// Steps of the cosine decay to 5% after the warm-up; 0 for no decay.
    pub decay: u64,
    /// The fraction of the averaged weights that a step keeps; the first steps keep less.
    pub average: f32,
}

impl LearnerSettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 4] = [
        ("rate", Bounds::real(1e-10, 1.0)), // AdamW moves each weight by about the rate
        ("warm_up", Bounds::Whole(STEPS)),
        ("decay", Bounds::Whole(STEPS)),
        ("average", Bounds::SHARE),
    ];

    /// The learning rate of this step; the first step is number 1.
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

    /// The fraction of the averages that this step keeps; the first step is number 1. The first steps keep less, so
    /// that the random initial weights soon stop mattering.
    fn keep_after(&self, steps: u64) -> f32 {
        let steps = steps as f32;
        self.average.min((1.0 + steps) / (10.0 + steps))
    }

    /// Rejects the losses and gradients of a step that would spoil the weights.
    fn check(&self, step: u64, Measures { losses, gradient_norm, .. }: &Measures) -> Result<(), TrainError> {
        if !losses.total.is_finite() || !gradient_norm.is_finite() {
            return Err(TrainError(format!(
                "step {step}: the loss is {} (policy {}, result {}, score {}) with a gradient norm of \
                 {gradient_norm}; lower learner.rate and resume from the last checkpoint",
                losses.total, losses.policy, losses.result, losses.score
            )));
        }
        if losses.total > EXPLODE {
            return Err(TrainError(format!(
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
    /// The learning rate of the step.
    pub rate: f32,
    /// How good the network was before the step. On a GPU only the first step of a cycle and every 20th one have it.
    pub measures: Option<Measures>,
}

/// A network in training, with its optimizer and averaged weights.
pub struct Learner {
    settings: LearnerSettings,
    at: Header,
    average: Weights, // after the last cycle
    trainee: Box<dyn AnyTrainee>,
    until_measured: u64, // steps without measures that come next on a GPU
}

/// What a learner's file contains besides its records.
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
    /// Panics if they are of a custom network that is not registered.
    pub fn new(settings: LearnerSettings, weights: Weights, device: &OpenDevice) -> Learner {
        let new = trainable(weights.net()).expect("weights are of a network that is known");
        Learner {
            settings,
            at: Header { net: weights.net().clone(), shape: *weights.shape(), steps: 0 },
            trainee: with_weights(&*new, &weights, device),
            average: weights,
            until_measured: 0,
        }
    }

    /// Reads a learner that [`Learner::to_bytes`] wrote, and gives it these settings. Weights that are not finite, and
    /// averaged weights with which a network could overflow, are rejected.
    pub fn from_bytes(settings: LearnerSettings, device: &OpenDevice, bytes: &[u8]) -> Result<Learner, FileError> {
        let (at, arrays) = FORMAT.read::<Header>(bytes)?;
        let mut records = Records::default();
        for (record, name) in records.iter_mut().zip(RECORDS) {
            *record = numbers(&arrays, name)?;
        }
        let new = trainable(&at.net).map_err(|error| error.to_string())?;
        let mut trainee = new(&at.shape, device);
        trainee.read(records)?;
        Weights::new(at.net.clone(), at.shape, trainee.weights()).map_err(|error| error.to_string())?;
        let average = checked(&at, trainee.average()).map_err(|error| error.to_string())?;
        Ok(Learner { settings, at, average, trainee, until_measured: 0 })
    }

    /// Everything that the next step depends on, except for the settings.
    pub fn to_bytes(&self) -> Vec<u8> {
        let records = RECORDS.iter().zip(self.trainee.records());
        let arrays: Vec<Array> = records.map(|(name, bytes)| Array::flat(name, &bytes)).collect();
        FORMAT.write(&self.at, &arrays)
    }

    /// Takes one step. On an error nothing changes; on a GPU, where not every step is measured, the weights may have been
    /// spoiled by the steps before.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    pub fn step(&mut self, batch: &Samples) -> Result<StepStats, TrainError> {
        let is_measured = self.trainee.always_measures() || self.until_measured == 0;
        self.until_measured = if is_measured { MEASURED_EVERY - 1 } else { self.until_measured - 1 };
        let mut pass = self.trainee.pass(batch, is_measured);
        let step = self.at.steps + 1;
        let measures = pass.measures.take();
        measures.iter().try_for_each(|measures| self.settings.check(step, measures))?;
        let rate = self.rate();
        self.trainee.step(pass, rate, self.settings.keep_after(step));
        self.at.steps = step;
        Ok(StepStats { step, rate, measures })
    }

    /// Completes the averaged weights after the steps of a cycle. Rejects weights with which a network could overflow.
    pub fn end_turn(&mut self) -> Result<(), TrainError> {
        self.until_measured = 0;
        self.average = checked(&self.at, self.trainee.average()).map_err(|error| {
            TrainError(format!(
                "step {}: {error}; lower learner.rate and resume from the last checkpoint",
                self.at.steps
            ))
        })?;
        Ok(())
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.at.steps
    }

    /// The kind of network that is trained.
    pub fn net(&self) -> &NetKind {
        &self.at.net
    }

    /// The weights in training.
    pub fn weights(&self) -> Weights {
        Weights::new(self.at.net.clone(), self.at.shape, self.trainee.weights()).expect("a step leaves finite weights")
    }

    /// The averaged weights after the last cycle, which are used for play and exported.
    pub fn average(&self) -> &Weights {
        &self.average
    }

    /// The losses and gradients of a batch. No weight changes.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    pub fn loss_of(&mut self, batch: &Samples) -> (Losses, Tensors) {
        let mut pass = self.trainee.pass(batch, true);
        let measures = pass.measures.take().expect("they were asked for");
        (measures.losses, self.trainee.gradients(pass))
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f32 {
        self.settings.rate_of(self.at.steps + 1)
    }
}

/// Rejects weights with which a network could overflow.
fn checked(at: &Header, tensors: Tensors) -> Result<Weights, NetError> {
    let weights = Weights::new(at.net.clone(), at.shape, tensors)?;
    weights.check_range()?;
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{CustomNetwork, Outputs};
    use crate::registry::{on_device, random_weights, register, register_built_in};
    use crate::trainee::tests::{SHAPE, batch, pair};
    use burn::module::{Module, Param};
    use burn::tensor::{Device, Distribution, Tensor};
    use jarmo_core::net::{FeatureBatch, FrozenNet, Logits, NetKind, NetSettings, Network};
    use jarmo_core::random::stream;

    const SETTINGS: LearnerSettings = LearnerSettings { rate: 0.01, warm_up: 0, decay: 100, average: 0.9 };

    fn random(name: &str) -> Weights {
        random_weights(name, &SHAPE, 1, &OpenDevice::cpu()).unwrap()
    }

    /// One layer and no head for points. Its frozen form is another network, so that a test can tell them apart.
    #[derive(Module, Debug)]
    struct Line {
        policy: Param<Tensor<2>>,
        result: Param<Tensor<2>>,
    }

    impl CustomNetwork for Line {
        type Settings = bool; // whether it has a frozen form

        fn new(_: &bool, shape: &NetShape, device: &Device) -> Line {
            let layer = |outputs| {
                let weights = Tensor::random([shape.features, outputs], Distribution::Default, device);
                Param::from_tensor(weights)
            };
            Line { policy: layer(shape.actions), result: layer(3) }
        }

        fn forward(&self, features: Tensor<2>) -> Outputs {
            Outputs {
                policy: features.clone().matmul(self.policy.val()),
                result: features.matmul(self.result.val()),
                score: None,
            }
        }

        fn frozen(has_frozen: &bool, weights: &Weights) -> Option<FrozenNet> {
            has_frozen.then(|| FrozenNet::new(&built_in(*weights.shape())))
        }
    }

    fn built_in(shape: NetShape) -> Weights {
        let size = NetSettings { width: 32, blocks: 0 };
        Weights::random(size, shape, &mut stream(1, 0))
    }

    fn policy(mut net: FrozenNet) -> Vec<f32> {
        let mut features = FeatureBatch::new();
        features.push_indices([3, 30]);
        let mut logits = Logits::new(SHAPE);
        net.evaluate(&features, &mut logits);
        assert_eq!(logits.score(0).len(), 7);
        logits.policy(0).to_vec()
    }

    #[test]
    fn a_frozen_form_takes_the_place_of_burn_on_the_processor() {
        register::<Line>("line-burn", false);
        register::<Line>("line-frozen", true);
        let line = |name: &str| {
            let weights = random(name);
            (policy(on_device(&weights, &OpenDevice::cpu())), policy(FrozenNet::new(&weights)))
        };
        let (in_burn, played) = line("line-burn");
        assert_eq!(played, in_burn);
        let (in_burn, played) = line("line-frozen");
        assert_ne!(played, in_burn);
        assert_eq!(played, policy(FrozenNet::new(&built_in(SHAPE))));
    }

    #[test]
    fn saved_and_read_it_learns_the_same() {
        register::<Line>("line-saved", false);
        let cpu = OpenDevice::cpu();
        let mut one = Learner::new(SETTINGS, random("line-saved"), &cpu);
        let first = one.step(&batch()).unwrap();
        let resume = |bytes: &[u8]| Learner::from_bytes(SETTINGS, &cpu, bytes);
        let mut two = resume(&one.to_bytes()).unwrap();
        for _ in 0..20 {
            assert_eq!(one.step(&batch()).unwrap(), two.step(&batch()).unwrap());
        }
        one.end_turn().unwrap();
        two.end_turn().unwrap();
        assert_eq!(one.average(), two.average());
        assert!(one.step(&batch()).unwrap().measures.unwrap().losses.total < first.measures.unwrap().losses.total);
        assert!(resume(&one.to_bytes()[..99]).is_err());
    }

    /// A tower for the shape of the tests: 5 planes of 8 cells.
    fn tower() -> Weights {
        register_built_in();
        let net = NetKind::named("tower", NetSettings { width: 64, blocks: 2 }, 8);
        Weights::random(net, SHAPE, &mut stream(1, 0))
    }

    #[test]
    fn a_tower_learns_and_every_weight_of_it_does() {
        let cpu = OpenDevice::cpu();
        let mut one = Learner::new(SETTINGS, tower(), &cpu);
        let first = one.step(&batch()).unwrap().measures.unwrap().losses;
        let mut two = Learner::from_bytes(SETTINGS, &cpu, &one.to_bytes()).unwrap();
        let mut last = first;
        for _ in 0..60 {
            last = one.step(&batch()).unwrap().measures.unwrap().losses;
            assert_eq!(last, two.step(&batch()).unwrap().measures.unwrap().losses);
        }
        // The entropies of the targets are 0.5623, 1.0397 and 0.
        assert!(last.policy < 0.57 && last.result < 1.05 && last.score < 0.01, "{first:?} {last:?}");
        assert!(first.policy > 0.65 && first.result > 1.09 && first.score > 1.9, "{first:?}");
        let (before, after) = (tower(), one.weights());
        for (name, tensor) in before.tensors() {
            assert_ne!(tensor.data, after.get(name), "{name}");
        }
    }

    #[test]
    fn a_tower_plays_as_burn_computes_it_and_nearly_so_in_half_precision() {
        let mut learner = Learner::new(SETTINGS, tower(), &OpenDevice::cpu());
        for _ in 0..20 {
            learner.step(&batch()).unwrap();
        }
        let weights = learner.weights();
        let whole = policy(on_device(&weights, &OpenDevice::cpu()));
        assert_eq!(policy(FrozenNet::new(&weights)), whole);
        let half = policy(on_device(&weights, &OpenDevice::cpu().in_half_precision().unwrap()));
        assert_ne!(half, whole);
        let spread = whole.iter().fold(0.0, |most: f32, logit| most.max(logit.abs()));
        for (half, whole) in half.iter().zip(&whole) {
            assert!((half - whole).abs() < 0.05 * spread, "{half} {whole}");
        }
    }

    #[test]
    fn on_a_gpu_few_steps_are_measured_and_all_learn() {
        let (weights, trainees) = pair();
        let [cpu, gpu] = trainees.map(|trainee| {
            let at = Header { net: weights.net().clone(), shape: SHAPE, steps: 0 };
            let (average, trainee) = (weights.clone(), Box::new(trainee));
            let mut learner = Learner { settings: SETTINGS, at, average, trainee, until_measured: 0 };
            let steps = (0..25).map(|_| learner.step(&batch()).unwrap());
            let measured: Vec<u64> = steps.filter_map(|stats| stats.measures.map(|_| stats.step)).collect();
            (measured, learner.loss_of(&batch()).0.total)
        });
        assert_eq!((cpu.0.len(), gpu.0), (25, vec![1, 21]));
        assert!((cpu.1 - gpu.1).abs() < 1e-3, "{} {}", cpu.1, gpu.1);
    }

    #[test]
    fn weights_that_are_no_numbers_are_refused() {
        let cpu = OpenDevice::cpu();
        let mut learner = Learner::new(SETTINGS, built_in(SHAPE), &cpu);
        learner.step(&batch()).unwrap();
        let mut bytes = learner.to_bytes();
        let weights = learner.weights();
        let stem: Vec<u8> = weights.get("stem.weight").iter().flat_map(|weight| weight.to_le_bytes()).collect();
        let place = bytes.windows(stem.len()).position(|part| part == stem).unwrap();
        bytes[place..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        jarmo_core::checksum::seal(&mut bytes);
        let refused = Learner::from_bytes(SETTINGS, &cpu, &bytes).err().unwrap().to_string();
        assert!(refused.contains("finite"), "{refused}");
    }
}
