//! The numbers of a network as plain data: named tensors, belonging to nobody's library.

use std::collections::BTreeMap;
use std::fmt;

use rand::RngExt;

use super::config::{NetConfig, NetShape};
use crate::random::Stream;

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
    config: NetConfig,
    shape: NetShape,
    tensors: BTreeMap<String, Tensor>,
}

/// Weights that do not belong to the network they were given for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsError(String);

impl fmt::Display for WeightsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for WeightsError {}

impl Weights {
    /// Takes tensors that are exactly those of the architecture, every number finite.
    pub fn new(
        config: NetConfig,
        shape: NetShape,
        tensors: BTreeMap<String, Tensor>,
    ) -> Result<Weights, WeightsError> {
        config
            .validate()
            .and_then(|()| shape.validate())
            .map_err(|error| WeightsError(error.to_string()))?;
        let plans = config.tensors(&shape);
        for plan in &plans {
            let name = &plan.name;
            let Some(tensor) = tensors.get(name) else {
                return Err(WeightsError(format!("tensor `{name}` is missing")));
            };
            let size: usize = plan.dims.iter().product();
            if tensor.dims != plan.dims || tensor.data.len() != size {
                return Err(WeightsError(format!(
                    "tensor `{name}` is {:?} with {} numbers; a network {config} needs {:?}",
                    tensor.dims,
                    tensor.data.len(),
                    plan.dims
                )));
            }
            if let Some(place) = tensor.data.iter().position(|number| !number.is_finite()) {
                return Err(WeightsError(format!(
                    "tensor `{name}` holds {} at place {place}",
                    tensor.data[place]
                )));
            }
        }
        if let Some(name) = tensors
            .keys()
            .find(|name| !plans.iter().any(|plan| plan.name == **name))
        {
            return Err(WeightsError(format!(
                "tensor `{name}` belongs to no network {config}"
            )));
        }
        Ok(Weights {
            config,
            shape,
            tensors,
        })
    }

    /// The weights a network starts to learn from: even noise that keeps the size of what passes
    /// through, small in residual blocks, next to nothing in the heads.
    ///
    /// # Panics
    /// Panics if the architecture is not valid.
    pub fn random(config: NetConfig, shape: NetShape, stream: &mut Stream) -> Weights {
        let blocks = config.blocks().max(1) as f32;
        let mut tensors = BTreeMap::new();
        for plan in config.tensors(&shape) {
            let spread = if plan.fan_in == 0 {
                0.0
            } else {
                let keep = (6.0 / plan.fan_in as f32).sqrt(); // twice the variance of 1 / fan_in
                let family = plan.name.split('.').next().unwrap_or_default();
                match family {
                    "stem" | "head" => keep,
                    "blocks" => keep / (2.0 * blocks).sqrt(),
                    _ => 0.1 * keep,
                }
            };
            let size = plan.dims.iter().product();
            let data = (0..size)
                .map(|_| spread * (2.0 * stream.random::<f32>() - 1.0))
                .collect();
            let dims = plan.dims;
            tensors.insert(plan.name, Tensor { dims, data });
        }
        Weights::new(config, shape, tensors).expect("random weights fit the architecture")
    }

    /// The same network with more planes to look at, behind those it has; it makes nothing of them.
    ///
    /// # Panics
    /// Panics if it has more planes already.
    #[must_use]
    pub(crate) fn with_planes(mut self, planes: usize) -> Weights {
        assert!(planes >= self.shape.planes, "planes are added, never taken");
        self.shape.planes = planes;
        for plan in self.config.tensors(&self.shape) {
            let tensor = self
                .tensors
                .get_mut(&plan.name)
                .expect("a tensor of the plan");
            // Inputs come first, so what is new comes last.
            tensor.data.resize(plan.dims.iter().product(), 0.0);
            tensor.dims = plan.dims;
        }
        self
    }

    /// The architecture.
    pub fn config(&self) -> NetConfig {
        self.config
    }

    /// What the network takes in and gives out.
    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// All tensors by name.
    pub fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.tensors
    }

    /// The numbers of a tensor, or none if the architecture has no such tensor.
    pub fn get(&self, name: &str) -> &[f32] {
        self.tensors
            .get(name)
            .map_or(&[], |tensor| tensor.data.as_slice())
    }

    /// The numbers of a tensor of the architecture.
    pub(super) fn numbers_mut(&mut self, name: &str) -> &mut [f32] {
        let tensor = self.tensors.get_mut(name);
        &mut tensor.expect("a tensor of the architecture").data
    }

    /// How many numbers there are.
    pub fn parameters(&self) -> usize {
        self.tensors.values().map(|tensor| tensor.data.len()).sum()
    }
}
