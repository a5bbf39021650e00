//! A module in training, with its optimizer and its averages. All are burn's types and are saved as burn records.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::{Bytes, Device, FloatDType, Tensor, TensorData};
use burn_optim::{GradientsParams, ModuleOptimizer};
use burn_pack::{Reader, Writer};

use crate::adam::optimizer;
use crate::batch::Rows;
use crate::device::{DeviceKind, OpenDevice};
use crate::loss::{Losses, losses};
use crate::network::{BurnNet, CustomNetwork, FirstLayer, features};
use crate::predictions::Predictions;
use crate::stem;
use crate::tensors::{Tensors, changed, matrix, numbers, tensors, with_weights};
use jarmo_core::net::{FrozenNet, NetShape, Weights};
use jarmo_selfplay::replay::Samples;

/// Gradients are clipped to this norm.
const CLIP: f32 = 5.0;

/// The records of a trainee: the module, its averages, the optimizer.
pub(crate) type Records = [Vec<u8>; 3];

/// How good a network is on a batch, and the norm of all its gradients.
#[derive(Clone, Debug, PartialEq)]
pub struct Measures {
    /// The loss.
    pub losses: Losses,
    /// The predictions.
    pub predictions: Predictions,
    /// The norm of all gradients, before they are clipped.
    pub gradient_norm: f32,
}

/// The result of a forward and backward pass over one batch.
pub(crate) struct Pass {
    pub(crate) measures: Option<Measures>,
    norm: Scalar, // of all gradients
    gradients: GradientsParams,
}

/// A number, on a GPU as a tensor of one number, because reading it would stop the GPU.
enum Scalar {
    Number(f32),
    OnDevice(Box<Tensor<1>>),
}

/// A [`Trainee`] with the type of its module erased, because a program can register any module.
pub(crate) trait AnyTrainee: Send {
    /// Replaces the weights, before the first step.
    fn load(&mut self, weights: &Weights);

    /// Continues from records.
    fn read(&mut self, records: Records) -> Result<(), String>;

    /// The network with the present weights as numbers of this type, for evaluation only.
    fn frozen(&self, numbers: FloatDType) -> FrozenNet;

    /// Whether measures cost nothing. On a GPU each one stops the device until its number is read.
    fn always_measures(&self) -> bool;

    /// The gradients of a batch and, if they are asked for, its measures.
    ///
    /// # Panics
    /// Panics if the batch is empty or of another game.
    fn pass(&mut self, batch: &Samples, measured: bool) -> Pass;

    /// Takes a training step and updates the averages, of which the fraction `keep` stays.
    fn step(&mut self, pass: Pass, rate: f32, keep: f32);

    fn weights(&self) -> Tensors;

    fn average(&self) -> Tensors;

    /// The gradients of a pass, by the names of their tensors.
    fn gradients(&self, pass: Pass) -> Tensors;

    fn records(&self) -> Records;
}

pub(crate) struct Trainee<M> {
    module: Option<M>,         // taken out while it changes, so that burn reuses its memory
    averages: GradientsParams, // by the parameters' identities
    optimizer: ModuleOptimizer,
    shape: NetShape,
    device: Device, // without gradients
    is_cpu: bool,   // tensors are plain numbers in memory, and some work is done on them by hand
}

impl<M: CustomNetwork> Trainee<M> {
    /// Makes this module ready for training. It must not track gradients yet.
    pub(crate) fn new(module: M, shape: NetShape, device: &OpenDevice) -> Trainee<M> {
        let is_cpu = device.kind() == DeviceKind::Cpu;
        // Burn's identities are random, but they are saved, and equal runs must save equal bytes.
        let module = module.map(&mut Numbered(0)).train();
        Trainee {
            averages: values(&module),
            module: Some(module),
            optimizer: optimizer(is_cpu),
            shape,
            device: device.device.clone(),
            is_cpu,
        }
    }

    fn module(&self) -> &M {
        self.module.as_ref().expect("the module is there between two changes")
    }

    /// The averages as a module.
    fn averaged(&self) -> M {
        self.module().valid().map(&mut Replace(&self.averages))
    }

    /// The norm of all gradients.
    fn norm(&self, gradients: &mut GradientsParams) -> Scalar {
        if self.is_cpu {
            let mut squares = Squares { gradients, sum: 0.0 };
            self.module().visit(&mut squares);
            return Scalar::Number(squares.sum.sqrt() as f32);
        }
        let mut squares = SquaresOnDevice { gradients, sum: Tensor::zeros([1], &self.device) };
        self.module().visit(&mut squares);
        Scalar::OnDevice(Box::new(squares.sum.sqrt()))
    }

    /// The first layer, if it is computed in `stem`.
    fn first(&mut self, rows: &Rows) -> Option<First> {
        let FirstLayer { weight, bias } = self.module().first().filter(|_| self.is_cpu)?;
        let (weights, dims) = (weight.id, weight.dims());
        let (bias, numbers) = match bias {
            Some(bias) => (Some(bias.id), numbers(bias.val().inner())),
            None => (None, vec![0.0; dims[1]]),
        };
        let mut sums = Sums { weights, bias: numbers, rows, sums: Vec::new() };
        self.module = self.module.take().map(|module| module.map(&mut sums));
        let sums = matrix(sums.sums, [rows.features.len(), dims[1]], &self.device.clone().autodiff());
        Some(First { weights, dims, bias, sums: sums.require_grad() })
    }
}

/// A linear first layer that is computed in `stem`.
struct First {
    weights: ParamId,
    dims: [usize; 2],
    bias: Option<ParamId>,
    sums: Tensor<2>, // its output, a leaf of the graph
}

impl<M: CustomNetwork> AnyTrainee for Trainee<M> {
    fn load(&mut self, weights: &Weights) {
        let module = self.module.take().expect("the module is there between two changes");
        let module = with_weights(module, weights).train();
        self.averages = values(&module);
        self.module = Some(module);
    }

    fn read(&mut self, [module, average, state]: Records) -> Result<(), String> {
        let load = |bytes| -> Result<M, RecordError> {
            let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes))?;
            self.module().clone().try_load_record(record)
        };
        let wrong = |error: RecordError| format!("{error}");
        let (module, average) = (load(module).map_err(wrong)?, load(average).map_err(wrong)?);
        self.module = Some(module);
        self.averages = values(&average);
        self.optimizer = optimizer(self.is_cpu).from_bytes(Bytes::from_bytes_vec(state)).map_err(wrong)?;
        Ok(())
    }

    fn frozen(&self, numbers: FloatDType) -> FrozenNet {
        FrozenNet::of(BurnNet::new(self.module().valid(), self.shape, &self.device, numbers))
    }

    fn always_measures(&self) -> bool {
        self.is_cpu
    }

    fn pass(&mut self, batch: &Samples, measured: bool) -> Pass {
        assert!(!batch.is_empty(), "a batch with rows");
        let rows = Rows::of(batch, &self.shape);
        let device = self.device.clone().autodiff();
        let first = self.first(&rows);
        let outputs = match &first {
            Some(first) => self.module().after_first(first.sums.clone()),
            None => {
                let features = features(&rows.features, &self.shape, &self.device, self.is_cpu);
                self.module().forward(Tensor::from_inner(features))
            }
        };
        let (total, measured) = losses(&rows, outputs, &device, measured);
        let mut found = total.backward();
        let of_sums = first.as_ref().and_then(|first| first.sums.grad_remove(&mut found));
        let mut gradients = GradientsParams::from_grads(found, self.module());
        if let (Some(First { weights, dims, bias, .. }), Some(of_sums)) = (first, of_sums) {
            let (of_weights, of_bias) = stem::backward(&numbers(of_sums), &rows.features, dims);
            gradients.register(weights, matrix(of_weights, dims, &self.device));
            if let Some(bias) = bias {
                let of_bias = TensorData::new(of_bias, [dims[1]]);
                gradients.register(bias, Tensor::<1>::from_data(of_bias, &self.device));
            }
        }
        let norm = self.norm(&mut gradients);
        let measures = measured.map(|(losses, predictions)| {
            let gradient_norm = match &norm {
                Scalar::Number(norm) => *norm,
                Scalar::OnDevice(norm) => numbers(Tensor::clone(norm))[0],
            };
            Measures { losses, predictions, gradient_norm }
        });
        Pass { measures, norm, gradients }
    }

    fn step(&mut self, pass: Pass, rate: f32, keep: f32) {
        let Pass { mut gradients, norm, .. } = pass;
        let factor = match norm {
            Scalar::Number(norm) => (norm > CLIP).then(|| Scalar::Number(CLIP / norm)),
            Scalar::OnDevice(norm) => Some(Scalar::OnDevice(Box::new((norm.recip() * CLIP).clamp_max(1.0)))),
        };
        if let Some(factor) = factor {
            self.module().visit(&mut Scale(&mut gradients, factor));
        }
        let module = self.module.take().expect("the module is there between two changes");
        let module = self.optimizer.step(f64::from(rate), module, gradients);
        module.visit(&mut Averages { averages: &mut self.averages, keep });
        self.module = Some(module);
    }

    fn weights(&self) -> Tensors {
        tensors(self.module())
    }

    fn average(&self) -> Tensors {
        tensors(&self.averaged())
    }

    fn gradients(&self, pass: Pass) -> Tensors {
        tensors(&self.module().clone().map(&mut Replace(&pass.gradients)))
    }

    fn records(&self) -> Records {
        let module = |module: M| module.into_record().into_bytes();
        let optimizer = self.optimizer.into_bytes().and_then(|bytes| Ok(in_order(bytes)?));
        let records = [module(self.module().clone()), module(self.averaged()), optimizer];
        records.map(|bytes| bytes.expect("a record is written into memory").to_vec())
    }
}

/// A record with its tensors sorted by name, because burn keeps those of an optimizer in a hash map.
fn in_order(record: Bytes) -> Result<Bytes, burn_pack::Error> {
    let reader = Reader::from_bytes(record)?;
    let (scalars, texts) = (reader.scalars().clone(), reader.metadata().clone());
    let mut tensors = reader.into_tensors()?;
    tensors.sort_by(|one, other| one.name.cmp(&other.name));
    let writer = scalars.iter().fold(Writer::new(tensors), |writer, (name, scalar)| writer.with_scalar(name, *scalar));
    texts.iter().fold(writer, |writer, (name, text)| writer.with_metadata(name, text)).into_bytes()
}

/// Gives parameters the numbers 1, 2, … as their identities, in the order of the module.
struct Numbered(u64);

impl ModuleMapper for Numbered {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.0 += 1;
        let (_, value, mapper) = param.consume();
        Param::from_mapped_value(ParamId::from(self.0), value, mapper)
    }
}

/// Adds up the squares of all gradients on the CPU, without copying them.
struct Squares<'a> {
    gradients: &'a mut GradientsParams,
    sum: f64,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(param.id) {
            let gradient = changed(gradient, |numbers| self.sum += squares(numbers));
            self.gradients.register(param.id, gradient);
        }
    }
}

/// Adds up the squares of all gradients on their device.
struct SquaresOnDevice<'a> {
    gradients: &'a GradientsParams,
    sum: Tensor<1>,
}

impl ModuleVisitor for SquaresOnDevice<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            self.sum = self.sum.clone() + gradient.square().sum();
        }
    }
}

/// The sum of the squares, in lanes that the CPU adds up side by side.
fn squares(numbers: &[f32]) -> f64 {
    const LANES: usize = 16;
    let mut sum = 0.0;
    for numbers in numbers.chunks(1 << 12) {
        let (whole, rest) = numbers.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for numbers in whole {
            for (sum, number) in sums.iter_mut().zip(numbers) {
                *sum += number * number;
            }
        }
        let rest = rest.iter().map(|number| number * number);
        sum += f64::from(sums.into_iter().chain(rest).sum::<f32>());
    }
    sum
}

/// Multiplies all gradients.
struct Scale<'a>(&'a mut GradientsParams, Scalar);

impl ModuleVisitor for Scale<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.0.remove::<D>(param.id) {
            let gradient = match &self.1 {
                Scalar::Number(factor) => gradient * *factor,
                Scalar::OnDevice(factor) => gradient * factor.clone().reshape([1; D]),
            };
            self.0.register(param.id, gradient);
        }
    }
}

/// Computes the output of a linear layer without copying its weights.
struct Sums<'a> {
    weights: ParamId,
    bias: Vec<f32>,
    rows: &'a Rows,
    sums: Vec<f32>,
}

impl ModuleMapper for Sums<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if param.id != self.weights {
            return param;
        }
        in_place(param, |weights| self.sums = stem::forward(weights, &self.bias, &self.rows.features))
    }
}

/// Moves averages towards the values of a module. Doing this by hand in one pass would not make a training step faster.
struct Averages<'a> {
    averages: &'a mut GradientsParams,
    keep: f32, // the fraction of the averages that stays
}

impl ModuleVisitor for Averages<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let average = self.averages.remove::<D>(param.id).expect("the averages are of the same module");
        let moved = average * self.keep + param.val().inner() * (1.0 - self.keep);
        self.averages.register(param.id, moved);
    }
}

/// Works on the numbers of a parameter in place if no other tensor shares them.
fn in_place<const D: usize>(param: Param<Tensor<D>>, work: impl FnOnce(&mut [f32])) -> Param<Tensor<D>> {
    param.map(|tensor| Tensor::from_inner(changed(tensor.inner(), work)).require_grad())
}

/// The values of a module by the identities of its parameters.
fn values<M: Module>(module: &M) -> GradientsParams {
    struct Values(GradientsParams);
    impl ModuleVisitor for Values {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.register(param.id, param.val().inner());
        }
    }
    let mut values = Values(GradientsParams::new());
    module.visit(&mut values);
    values.0
}

/// Replaces each parameter by the value with its identity, or by zeros if there is none.
struct Replace<'a>(&'a GradientsParams);

impl ModuleMapper for Replace<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let other = self.0.get::<D>(param.id);
        param.map(|value| other.unwrap_or_else(|| value.inner().zeros_like()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::built_in::BuiltIn;
    use jarmo_core::net::NetSettings;
    use jarmo_core::random::stream;
    use jarmo_selfplay::replay::Sample;

    pub(crate) const SHAPE: NetShape = NetShape { features: 40, actions: 7, points: 3 };

    /// Five rows with a few features, the last with none.
    pub(crate) fn batch() -> Samples {
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

    /// Two trainees with the same weights: one computes on the numbers of tensors, the other leaves all to burn.
    pub(crate) fn pair() -> (Weights, [Trainee<BuiltIn>; 2]) {
        let settings = NetSettings { width: 32, blocks: 1 };
        let mut weights = Weights::random(settings, SHAPE, &mut stream(3, 0));
        let bias = weights.tensors_mut().find(|(name, _)| *name == "stem.bias").unwrap().1;
        bias.data = (0..32).map(|place| 0.01 * place as f32).collect();
        let device = OpenDevice::cpu();
        let trainees = [true, false].map(|is_cpu| {
            let module = BuiltIn::new(&settings, &SHAPE, &device.device);
            let module = with_weights(module, &weights);
            Trainee { is_cpu, ..Trainee::new(module, SHAPE, &device) }
        });
        (weights, trainees)
    }

    #[test]
    fn the_first_layer_is_the_same_as_a_sum_and_as_a_product() {
        let (weights, trainees) = pair();
        let [one, other] = trainees.map(|mut trainee| {
            let pass = trainee.pass(&batch(), true);
            (pass.measures.clone().unwrap().losses, trainee.gradients(pass))
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

    #[test]
    fn norm_and_averages_are_those_of_burn() {
        let (weights, trainees) = pair();
        let [one, other] = trainees.map(|mut trainee| {
            let norms = [0.5, 0.9].map(|keep| {
                let pass = trainee.pass(&batch(), true);
                let norm = pass.measures.as_ref().unwrap().gradient_norm;
                trainee.step(pass, 0.001, keep);
                norm
            });
            let pass = trainee.pass(&batch(), false);
            assert!(pass.measures.is_none());
            trainee.step(pass, 0.001, 0.9);
            (norms, trainee.average())
        });
        for (one, other) in one.0.iter().zip(other.0) {
            assert!((one / other - 1.0).abs() < 1e-5, "{one}, {other}");
        }
        for (name, averages) in &one.1 {
            assert_ne!(averages.data, weights.get(name), "{name}");
            for (one, other) in averages.data.iter().zip(&other.1[name].data) {
                assert!((one - other).abs() < 1e-5, "{name}: {one}, {other}");
            }
        }
    }
}
