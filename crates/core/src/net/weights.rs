//! The weights of a network as named tensors, independent of any tensor library.

use std::collections::BTreeMap;

use rand::RngExt;
use safetensors::SafeTensors;

use super::container::{Array, floats};
use super::custom::{NetKind, check_custom};
use super::settings::{NetError, NetSettings, NetShape, TensorPlan};
use crate::error::FileError;
use crate::random::Stream;

/// The largest number that a network may compute. Search can still add up such outputs without overflow.
const MAX_NUMBER: f64 = 1e30;

/// One weight tensor, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The dimensions.
    pub dims: Vec<usize>,
    /// The numbers, as many as the product of the dimensions.
    pub data: Vec<f32>,
}

/// All weights of one network, checked against its architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    net: NetKind,
    shape: NetShape,
    tensors: BTreeMap<String, Tensor>,
}

impl Tensor {
    /// The last dimension: the outputs of a layer.
    pub(super) fn outputs(&self) -> usize {
        *self.dims.last().expect("tensors have dimensions")
    }
}

impl Weights {
    /// Weights of a network from these tensors. They must be exactly those of its architecture, with finite numbers. The
    /// program must have registered the network, unless it is the `mlp`.
    pub fn new(
        net: impl Into<NetKind>,
        shape: NetShape,
        tensors: BTreeMap<String, Tensor>,
    ) -> Result<Weights, NetError> {
        let net = net.into();
        shape.validate()?;
        let registered = net.registered()?;
        match (net.tensors(&shape)?, registered) {
            (Some(plans), _) => check_planned(&net, &plans, &tensors)?,
            (None, registered) => {
                let registered = registered.expect("a network without plans is a registered one");
                check_custom(&registered, &shape, &tensors)?;
            }
        }
        Ok(Weights { net, shape, tensors })
    }

    /// The random weights that training of a built-in network starts from: He initialisation, uniformly distributed,
    /// scaled down in residual blocks and in the heads.
    ///
    /// # Panics
    /// Panics if the size is not valid, or if it is a custom network or one that is not registered.
    pub fn random(net: impl Into<NetKind>, shape: NetShape, stream: &mut Stream) -> Weights {
        let net = net.into();
        let plans = net.tensors(&shape).expect("a valid size").expect("a built-in network");
        let blocks = net.size().map_or(1, |size| size.blocks.max(1)) as f32;
        let mut tensors = BTreeMap::new();
        for plan in plans {
            let spread = if plan.fan_in == 0 {
                0.0
            } else {
                let keep = (6.0 / plan.fan_in as f32).sqrt(); // a variance of 2 / fan_in
                match plan.name.split('.').next() {
                    Some("stem") => keep,
                    Some("blocks") => keep / (2.0 * blocks).sqrt(),
                    _ => 0.1 * keep,
                }
            };
            let data = (0..plan.size()).map(|_| spread * (2.0 * stream.random::<f32>() - 1.0)).collect();
            let dims = plan.dims;
            tensors.insert(plan.name, Tensor { dims, data });
        }
        Weights::new(net, shape, tensors).expect("random weights fit the architecture")
    }

    /// The tensors as arrays of a file.
    pub fn to_arrays(&self) -> impl Iterator<Item = Array> {
        self.tensors.iter().map(|(name, Tensor { dims, data })| Array::floats(name, dims.clone(), data))
    }

    /// Reads the weights from the arrays of a file.
    pub fn from_arrays(net: &NetKind, shape: NetShape, arrays: &SafeTensors<'_>) -> Result<Weights, FileError> {
        let tensors = arrays.names().into_iter().map(|name| {
            let (dims, data) = floats(arrays, name)?;
            Ok((name.to_owned(), Tensor { dims, data }))
        });
        let tensors = tensors.collect::<Result<_, FileError>>()?;
        Weights::new(net.clone(), shape, tensors).map_err(|error| error.to_string().into())
    }

    /// Fails if a sum in the network could overflow `f32`, because search relies on finite outputs. Agent files are
    /// checked when they are read, the learner's averages after each cycle. For a registered network, only the weights
    /// themselves are checked to be finite.
    pub fn check_range(&self) -> Result<(), NetError> {
        if self.net.registered_name().is_some() {
            return Ok(());
        }
        let largest = self.largest_number();
        if largest <= MAX_NUMBER {
            return Ok(());
        }
        Err(NetError(format!(
            "the numbers that the network computes could reach {largest:.1e}, above {MAX_NUMBER:.0e}, and overflow"
        )))
    }

    /// A bound on the absolute value of every number that the network can compute, for any features. It follows each
    /// layer with its largest possible inputs. It is infinite or NaN if f64 overflows.
    fn largest_number(&self) -> f64 {
        let layer = |name: &str, inputs: &[f64]| -> Vec<f64> {
            let [matrix, bias] = self.layer(name);
            let mut sums: Vec<f64> = bias.iter().map(|&bias| f64::from(bias).abs()).collect();
            for (row, input) in matrix.chunks_exact(bias.len()).zip(inputs) {
                for (sum, &weight) in sums.iter_mut().zip(row) {
                    *sum += input * f64::from(weight).abs();
                }
            }
            sums
        };
        let mut trunk = layer("stem", &vec![1.0; self.shape.features]);
        for block in 0..self.settings().blocks {
            let added = layer(&format!("blocks.{block}"), &trunk);
            for (sum, added) in trunk.iter_mut().zip(added) {
                *sum += added;
            }
        }
        let heads = self.shape.heads().flat_map(|(name, _)| layer(name, &trunk));
        let outputs: Vec<f64> = heads.collect();
        let numbers = trunk.into_iter().chain(outputs);
        // Unlike `f64::max` this keeps a NaN.
        numbers.fold(0.0, |most, one| if one > most || one.is_nan() { one } else { most })
    }

    /// A larger network with the same outputs: old units ignore new ones, and new blocks are the identity. All other
    /// new weights are random.
    ///
    /// # Panics
    /// Panics if the size is not valid.
    pub fn grown(&self, settings: NetSettings, stream: &mut Stream) -> Result<Weights, NetError> {
        let NetKind::BuiltIn(from) = self.net() else {
            return Err(NetError(format!("a network {} cannot grow", self.net())));
        };
        settings.check_growth(*from)?;
        let mut weights = Weights::random(settings, *self.shape(), stream);
        for (name, tensor) in weights.tensors_mut() {
            let Some(old) = self.tensors().get(name) else {
                tensor.data.fill(0.0); // with these weights a residual block is the identity
                continue;
            };
            // A row holds all outputs of one input; a bias is one row.
            let (outputs, old_outputs) = (tensor.outputs(), old.outputs());
            let mut old_rows = old.data.chunks_exact(old_outputs);
            for row in tensor.data.chunks_exact_mut(outputs) {
                let there = &mut row[..old_outputs];
                match old_rows.next() {
                    Some(old_row) => there.copy_from_slice(old_row),
                    None => there.fill(0.0),
                }
            }
        }
        Ok(weights)
    }

    /// The kind of network to which they belong.
    pub fn net(&self) -> &NetKind {
        &self.net
    }

    /// The size of the built-in network.
    ///
    /// # Panics
    /// Panics for another network.
    pub fn settings(&self) -> NetSettings {
        match self.net {
            NetKind::BuiltIn(settings) => settings,
            _ => panic!("a network {} has no such size", self.net),
        }
    }

    /// The inputs and outputs of the network.
    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// All tensors by name.
    pub fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.tensors
    }

    /// All tensors by name, mutable. Do not change their dimensions.
    pub fn tensors_mut(&mut self) -> impl Iterator<Item = (&String, &mut Tensor)> {
        self.tensors.iter_mut()
    }

    /// The numbers of a tensor.
    ///
    /// # Panics
    /// Panics if the architecture has no such tensor.
    pub fn get(&self, name: &str) -> &[f32] {
        &self.tensors[name].data
    }

    /// The matrix and the bias of a layer.
    ///
    /// # Panics
    /// Panics if the architecture has no such layer.
    pub fn layer(&self, name: &str) -> [&[f32]; 2] {
        ["weight", "bias"].map(|part| self.get(&format!("{name}.{part}")))
    }

    /// All heads of the built-in network as one layer: the matrix `[width, outputs]` and the bias.
    ///
    /// # Panics
    /// Panics for another network.
    pub fn heads(&self) -> (Vec<f32>, Vec<f32>) {
        let heads: Vec<_> = self.shape.heads().map(|(name, _)| self.layer(name)).collect();
        let width = self.settings().width;
        let mut matrix = Vec::with_capacity(width * self.shape.outputs());
        for input in 0..width {
            for [matrix_of_head, bias] in &heads {
                matrix.extend_from_slice(&matrix_of_head[input * bias.len()..][..bias.len()]);
            }
        }
        let bias = heads.iter().flat_map(|[_, bias]| *bias);
        (matrix, bias.copied().collect())
    }

    /// The number of weights.
    pub fn parameters(&self) -> usize {
        self.tensors.values().map(|tensor| tensor.data.len()).sum()
    }
}

/// Checks that the tensors are those of a built-in network.
fn check_planned(net: &NetKind, plans: &[TensorPlan], tensors: &BTreeMap<String, Tensor>) -> Result<(), NetError> {
    for plan in plans {
        let name = &plan.name;
        let Some(tensor) = tensors.get(name) else {
            return Err(NetError(format!("tensor `{name}` is missing")));
        };
        if tensor.dims != plan.dims || tensor.data.len() != plan.size() {
            return Err(NetError(format!(
                "tensor `{name}` has dimensions {:?} and {} numbers; a network {net} needs {:?}",
                tensor.dims,
                tensor.data.len(),
                plan.dims
            )));
        }
        if let Some(place) = tensor.data.iter().position(|number| !number.is_finite()) {
            return Err(NetError(format!(
                "tensor `{name}` holds {} at index {place}; all weights must be finite",
                tensor.data[place]
            )));
        }
    }
    match tensors.keys().find(|name| !plans.iter().any(|plan| plan.name == **name)) {
        Some(name) => Err(NetError(format!("tensor `{name}` belongs to no network {net}"))),
        None => Ok(()),
    }
}
