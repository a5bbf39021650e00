//! A module in training, with its optimizer and its averages: all of them burn's, and saved as burn's records.

use std::mem;

use burn::module::{ModuleMapper, ModuleVisitor, Param, ParamGroup};
use burn::nn::Linear;
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::{Bytes, Device, Tensor, TensorData};

use super::batch::Rows;
use super::device::{DeviceKind, OpenDevice};
use super::loss::{Losses, losses};
use super::network::{OwnNetwork, features};
use super::predictions::Predictions;
use super::stem;
use super::tensors::{Tensors, matrix, numbers, tensors};
use jarmo_core::net::NetShape;
use jarmo_selfplay::replay::Samples;

/// Gradients are clipped to this norm.
const CLIP: f32 = 5.0;

/// AdamW's constants are the usual ones.
const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Weight decay per step, as a factor of the learning rate. Biases do not decay.
const WEIGHT_DECAY: f32 = 0.01;

/// The records of a trainee: the module, its averages, the optimizer.
pub(crate) type Records = [Vec<u8>; 3];

/// The result of a forward and backward pass over one batch.
pub(crate) struct Pass {
    pub(super) losses: Losses,
    pub(super) predictions: Predictions,
    pub(super) norm: f32, // of all gradients
    gradients: GradientsParams,
}

/// A module in training, whatever its type.
pub(crate) trait Training: Send {
    /// The losses, predictions and gradients of a batch.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    fn pass(&self, batch: &Samples) -> Pass;

    /// Takes a step against the gradients, and moves the averages, of which the share `keep` stays.
    fn step(&mut self, pass: Pass, rate: f32, keep: f32);

    fn weights(&self) -> Tensors;

    fn average(&self) -> Tensors;

    /// The gradients of a pass, by the names of their tensors.
    fn gradients(&self, pass: Pass) -> Tensors;

    fn records(&self) -> Records;
}

pub(super) struct Trainee<M> {
    module: M,
    average: M, // without gradients
    optimizer: ModuleOptimizer,
    shape: NetShape,
    device: Device,  // without gradients
    adds_rows: bool, // whether a linear first layer is computed in `stem`, which pays on the processor
}

impl<M: OwnNetwork> Trainee<M> {
    /// Training begins with this module, which is without gradients.
    pub(super) fn new(module: M, shape: NetShape, device: &OpenDevice) -> Trainee<M> {
        Trainee {
            module: module.clone().train(),
            average: module,
            optimizer: optimizer(),
            shape,
            device: device.device.clone(),
            adds_rows: device.kind() == DeviceKind::Cpu,
        }
    }

    /// Training goes on from records, which are read into this module.
    pub(super) fn read(self, records: Records) -> Result<Trainee<M>, String> {
        let wrong = |error: RecordError| format!("{error}");
        let load = |module: M, bytes| -> Result<M, RecordError> {
            let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes))?;
            module.try_load_record(record)
        };
        let [module, average, optimizer] = records;
        Ok(Trainee {
            module: load(self.module, module).map_err(wrong)?,
            average: load(self.average, average).map_err(wrong)?,
            optimizer: self.optimizer.from_bytes(Bytes::from_bytes_vec(optimizer)).map_err(wrong)?,
            ..self
        })
    }

    /// The first layer, if it is computed in `stem`, and its output, a leaf of the graph.
    fn first(&self, rows: &Rows) -> Option<(&Linear, Tensor<2>)> {
        let first = self.module.first().filter(|_| self.adds_rows)?;
        let [_, width] = first.weight.dims();
        let weights = numbers(first.weight.val().inner());
        let bias = first.bias.as_ref().map_or(vec![0.0; width], |bias| numbers(bias.val().inner()));
        let sums = stem::forward(&weights, &bias, &rows.features);
        let sums = matrix(sums, [rows.features.len(), width], &self.device.clone().autodiff());
        Some((first, sums.require_grad()))
    }
}

impl<M: OwnNetwork> Training for Trainee<M> {
    fn pass(&self, batch: &Samples) -> Pass {
        assert!(!batch.is_empty(), "a batch with rows");
        let rows = Rows::of(batch, &self.shape);
        let device = self.device.clone().autodiff();
        let first = self.first(&rows);
        let outputs = match &first {
            Some((_, sums)) => self.module.after_first(sums.clone()),
            None => self.module.forward(features(&rows.features, &self.shape, &device)),
        };
        let (total, losses, predictions) = losses(&rows, outputs, &device);
        let mut found = total.backward();
        let sums = first.map(|(layer, sums)| (layer, sums.grad_remove(&mut found)));
        let mut gradients = GradientsParams::from_grads(found, &self.module);
        if let Some((layer, Some(sums))) = sums {
            let dims = layer.weight.dims();
            let (weights, bias) = stem::backward(&numbers(sums), &rows.features, dims);
            gradients.register(layer.weight.id, matrix(weights, dims, &self.device));
            if let Some(param) = &layer.bias {
                let bias = TensorData::new(bias, [dims[1]]);
                gradients.register(param.id, Tensor::<1>::from_data(bias, &self.device));
            }
        }
        let mut squares = Squares(&gradients, 0.0);
        self.module.visit(&mut squares);
        Pass { losses, predictions, norm: squares.1.sqrt() as f32, gradients }
    }

    fn step(&mut self, pass: Pass, rate: f32, keep: f32) {
        let Pass { mut gradients, norm, .. } = pass;
        if norm > CLIP {
            self.module.visit(&mut Scale(&mut gradients, CLIP / norm));
        }
        // Burn reuses the memory of a tensor that has one owner, so each module is moved out, and the other stands in.
        let module = mem::replace(&mut self.module, self.average.clone());
        self.module = self.optimizer.step(f64::from(rate), module, gradients);
        let mut targets = GradientsParams::new();
        self.module.visit(&mut Values(&mut targets));
        let average = mem::replace(&mut self.average, self.module.clone());
        self.average = average.map(&mut Towards(&mut targets, keep));
    }

    fn weights(&self) -> Tensors {
        tensors(&self.module)
    }

    fn average(&self) -> Tensors {
        tensors(&self.average)
    }

    fn gradients(&self, mut pass: Pass) -> Tensors {
        let module = self.module.clone();
        tensors(&module.map(&mut Replace(&mut pass.gradients)))
    }

    fn records(&self) -> Records {
        let module = |module: &M| module.clone().into_record().into_bytes();
        let records = [module(&self.module), module(&self.average), self.optimizer.into_bytes()];
        records.map(|bytes| bytes.expect("a record is written into memory").to_vec())
    }
}

/// AdamW. Biases do not decay.
fn optimizer() -> ModuleOptimizer {
    let adam = AdamWConfig::new().with_beta_1(BETA1).with_beta_2(BETA2).with_epsilon(EPSILON);
    let biases = adam.clone().with_weight_decay(0.0).build();
    let all = adam.with_weight_decay(WEIGHT_DECAY).init();
    all.with_group(ParamGroup::from_predicate("bias"), biases, None)
}

/// Adds up the squares of all gradients.
struct Squares<'a>(&'a GradientsParams, f64);

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.0.get::<D>(param.id) {
            self.1 += f64::from(numbers(gradient.square().sum())[0]);
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

/// Moves the values of a module towards others; this share of them stays.
struct Towards<'a>(&'a mut GradientsParams, f32);

impl ModuleMapper for Towards<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let target = self.0.remove::<D>(param.id);
        let target = target.expect("the averages are of the same module");
        param.map(|average| average * self.1 + target * (1.0 - self.1))
    }
}

/// Puts gradients in the place of weights.
struct Replace<'a>(&'a mut GradientsParams);

impl ModuleMapper for Replace<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let gradient = self.0.remove::<D>(param.id);
        param.map(|weights| gradient.unwrap_or_else(|| weights.inner().zeros_like()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::built_in::BuiltIn;
    use super::super::tensors::with_weights;
    use super::*;
    use jarmo_core::net::{NetSettings, Weights};
    use jarmo_core::random::stream;
    use jarmo_selfplay::replay::Sample;

    const SHAPE: NetShape = NetShape { features: 40, actions: 7, points: 3 };

    /// Five rows with a few features, the last with none.
    fn batch() -> Samples {
        let mut batch = Samples::new();
        for row in 0..5 {
            let features: Vec<u16> = (row..4).map(|feature| 9 * feature + row).collect();
            batch.push(Sample {
                features: &features,
                actions: &[row, 6],
                policy: &[0.75, 0.25],
                result: [0.5, 0.25, 0.25],
                score: row as i8 - 2,
            });
        }
        batch
    }

    #[test]
    fn the_first_layer_is_the_same_as_a_sum_and_as_a_product() {
        let settings = NetSettings { width: 32, blocks: 1 };
        let mut weights = Weights::random(settings, SHAPE, &mut stream(3, 0));
        let bias = weights.tensors_mut().find(|(name, _)| *name == "stem.bias").unwrap().1;
        bias.data = (0..32).map(|place| 0.01 * place as f32).collect();
        let device = OpenDevice::cpu();
        let [one, other] = [true, false].map(|adds_rows| {
            let module = BuiltIn::new(&settings, &SHAPE, &device.device);
            let module = with_weights(module, &weights);
            let trainee = Trainee { adds_rows, ..Trainee::new(module, SHAPE, &device) };
            let pass = trainee.pass(&batch());
            (pass.losses, trainee.gradients(pass))
        });
        assert!((one.0.total - other.0.total).abs() < 1e-5);
        assert!(one.1.keys().eq(weights.tensors().keys()));
        for (name, gradients) in &one.1 {
            assert!(gradients.data.iter().any(|gradient| *gradient != 0.0), "{name}");
            for (one, other) in gradients.data.iter().zip(&other.1[name].data) {
                assert!((one - other).abs() < 1e-6, "{name}: {one}, {other}");
            }
        }
    }
}
