//! The learner of a network of one's own. Its optimizer and its averages are burn's, and its state is burn's records.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamGroup};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::{Bytes, Tensor};
use serde::{Deserialize, Serialize};

use super::adam::{BETA1, BETA2, EPSILON, WEIGHT_DECAY};
use super::backprop::{Backprop, features, numbers};
use super::batch::Rows;
use super::device::OpenDevice;
use super::learner::{CLIP, LearnerSettings, Learning, StepStats};
use super::own::{Outputs, OwnNetwork, tensors};
use super::predictions::Predictions;
use crate::RunError;
use jarmo_core::net::container::{Array, Format, numbers as array};
use jarmo_core::net::{FileError, NetShape, Weights};
use jarmo_selfplay::replay::Samples;

const FORMAT: Format = Format { key: "jarmo_own_learner", what: "learner of a network of one's own", version: 1 };

/// The records of a learner, as burn writes them.
const MODULE: &str = "module";
const AVERAGE: &str = "average";
const OPTIMIZER: &str = "optimizer";

#[derive(Serialize, Deserialize)]
struct Header {
    own: String,
    shape: NetShape,
    steps: u64,
}

pub(super) struct OwnLearner<M> {
    settings: LearnerSettings,
    name: String,
    shape: NetShape,
    module: M,
    average: M,       // without gradients
    weights: Weights, // the averages after the last turn, which play
    optimizer: ModuleOptimizer,
    steps: u64,
    backprop: Backprop,
}

impl<M: OwnNetwork> OwnLearner<M> {
    /// A learner that starts from this module.
    pub(super) fn new(
        (name, shape): (String, NetShape),
        module: M,
        settings: LearnerSettings,
        device: &OpenDevice,
    ) -> OwnLearner<M> {
        let average = module.valid();
        OwnLearner {
            settings,
            weights: of(&name, shape, &average).expect("a new network is finite"),
            name,
            shape,
            module,
            average,
            optimizer: optimizer(),
            steps: 0,
            backprop: Backprop::new(device),
        }
    }

    /// The learner that [`Learning::to_bytes`] wrote, on modules that `new` makes.
    pub(super) fn from_bytes(
        name: &str,
        new: impl Fn(&NetShape) -> M,
        settings: LearnerSettings,
        device: &OpenDevice,
        bytes: &[u8],
    ) -> Result<OwnLearner<M>, FileError> {
        let (header, arrays) = FORMAT.read::<Header>(bytes)?;
        if header.own != name {
            let problem = format!("the run trains `{}`, not `{name}`", header.own);
            return Err(problem.into());
        }
        let wrong = |error: RecordError| format!("{error}");
        let bytes = |part| array(&arrays, part).map(Bytes::from_bytes_vec);
        let load = |module: M, part| -> Result<M, String> {
            let record = ModuleRecord::from_bytes(bytes(part)?).map_err(wrong)?;
            module.try_load_record(record).map_err(wrong)
        };
        let module = load(new(&header.shape), MODULE)?;
        let average = load(module.valid(), AVERAGE)?;
        let optimizer = optimizer().from_bytes(bytes(OPTIMIZER)?).map_err(wrong)?;
        let weights = of(name, header.shape, &average).map_err(|error| error.to_string())?;
        Ok(OwnLearner {
            settings,
            name: header.own,
            shape: header.shape,
            module,
            average,
            weights,
            optimizer,
            steps: header.steps,
            backprop: Backprop::new(device),
        })
    }
}

impl<M: OwnNetwork> Learning for OwnLearner<M> {
    fn step(&mut self, batch: &Samples) -> Result<StepStats, RunError> {
        let rows = Rows::of(batch, &self.shape);
        let features = features(&rows.features, &self.shape, self.backprop.device());
        let Outputs { policy, result, score } = self.module.forward(features);
        let predictions = Predictions::of(&rows, &numbers(policy.clone().detach()), &numbers(result.clone().detach()));
        let score = score.filter(|_| self.shape.points > 0);
        let (total, losses) = self.backprop.losses(&rows, policy, result, score);
        let mut gradients = GradientsParams::from_grads(total.backward(), &self.module);
        let gradient_norm = norm(&self.module, &gradients);
        self.settings.check(self.steps + 1, &losses, gradient_norm)?;
        if gradient_norm > CLIP {
            let scale = CLIP / gradient_norm;
            self.module.visit(&mut Scale(&mut gradients, scale));
        }
        let rate = self.settings.rate_of(self.steps + 1);
        let module = self.module.clone();
        self.module = self.optimizer.step(f64::from(rate), module, gradients);
        self.steps += 1;
        let keep = self.settings.keep_after(self.steps);
        let mut targets = GradientsParams::new();
        self.module.visit(&mut Values(&mut targets));
        let average = self.average.clone();
        self.average = average.map(&mut Towards(&mut targets, 1.0 - keep));
        Ok(StepStats { step: self.steps, losses, predictions, gradient_norm, rate })
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn average(&self) -> &Weights {
        &self.weights
    }

    fn end_turn(&mut self) -> Result<(), RunError> {
        let weights = of(&self.name, self.shape, &self.average);
        self.weights = weights.map_err(|error| {
            RunError(format!("step {}: {error}; lower learner.rate and resume from the last checkpoint", self.steps))
        })?;
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let header = Header { own: self.name.clone(), shape: self.shape, steps: self.steps };
        let module = |module: &M| module.clone().into_record().into_bytes();
        let parts = [
            (MODULE, module(&self.module)),
            (AVERAGE, module(&self.average)),
            (OPTIMIZER, self.optimizer.into_bytes()),
        ];
        let arrays = parts.map(|(name, bytes)| {
            let bytes = bytes.expect("a record is written into memory");
            Array::flat(name, &bytes)
        });
        FORMAT.write(&header, &arrays)
    }
}

/// AdamW with the constants of the built-in network. Biases do not decay.
fn optimizer() -> ModuleOptimizer {
    let adam = AdamWConfig::new().with_beta_1(BETA1).with_beta_2(BETA2).with_epsilon(EPSILON);
    let biases = adam.clone().with_weight_decay(0.0).build();
    let all = adam.with_weight_decay(WEIGHT_DECAY).init();
    all.with_group(ParamGroup::from_predicate("bias"), biases, None)
}

/// The numbers of a module.
fn of<M: Module>(name: &str, shape: NetShape, module: &M) -> Result<Weights, jarmo_core::net::NetError> {
    Weights::own(name, shape, tensors(module))
}

/// The norm of all gradients.
fn norm<M: Module>(module: &M, gradients: &GradientsParams) -> f32 {
    let mut squares = Squares(gradients, 0.0);
    module.visit(&mut squares);
    squares.1.sqrt() as f32
}

struct Squares<'a>(&'a GradientsParams, f64);

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.0.get::<D>(param.id) {
            let sum = (gradient.clone() * gradient).sum();
            self.1 += f64::from(numbers(sum)[0]);
        }
    }
}

/// Multiplies all gradients.
struct Scale<'a>(&'a mut GradientsParams, f32);

impl ModuleVisitor for Scale<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.0.remove::<D>(param.id) {
            self.0.register(param.id, gradient * self.1);
        }
    }
}

/// Collects the values of a module by the identities of its parameters.
struct Values<'a>(&'a mut GradientsParams);

impl ModuleVisitor for Values<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.register(param.id, param.val().inner());
    }
}

/// Moves the values of a module by a share of the way to others.
struct Towards<'a>(&'a mut GradientsParams, f32);

impl ModuleMapper for Towards<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let target = self.0.remove::<D>(param.id);
        let target = target.expect("the averages are of the same module");
        param.map(|average| average.clone() + (target - average) * self.1)
    }
}
