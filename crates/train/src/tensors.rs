//! Tensors as plain numbers: a single tensor, or all tensors of a module by name.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};

use jarmo_core::net::{self, Weights};

/// All tensors of a module by name.
pub(crate) type Tensors = BTreeMap<String, net::Tensor>;

pub(crate) fn matrix(numbers: Vec<f32>, dims: [usize; 2], device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(numbers, dims), device)
}

pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("tensors of 32-bit numbers")
}

/// The tensor after a change to its numbers. On the CPU nothing is copied if no other tensor shares its memory.
pub(crate) fn changed<const D: usize>(tensor: Tensor<D>, change: impl FnOnce(&mut [f32])) -> Tensor<D> {
    let device = tensor.device();
    let mut data = tensor.into_data();
    change(slice(&mut data));
    Tensor::from_data(data, &device)
}

/// The numbers of a tensor's data, to be changed in place.
pub(crate) fn slice(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("tensors of 32-bit numbers")
}

pub(crate) fn tensors<M: Module>(module: &M) -> Tensors {
    let mut reader = Reader::default();
    module.visit(&mut reader);
    reader.tensors
}

/// The module with these weights, without gradients.
pub(crate) fn with_weights<M: Module>(module: M, weights: &Weights) -> M {
    let path = Vec::new();
    module.valid().map(&mut Writer { path, weights })
}

#[derive(Default)]
struct Reader {
    path: Vec<String>,
    tensors: Tensors,
}

impl ModuleVisitor for Reader {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let dims = tensor.dims().to_vec();
        let data = numbers(tensor.detach());
        self.tensors.insert(self.path.join("."), net::Tensor { dims, data });
    }
}

/// Replaces the tensors of a module by the weights of the same names.
struct Writer<'a> {
    path: Vec<String>,
    weights: &'a Weights,
}

impl ModuleMapper for Writer<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let data = self.weights.get(&self.path.join(".")).to_vec();
        param.map(|old| {
            let data = TensorData::new(data, old.dims());
            Tensor::from_data(data, &old.device())
        })
    }
}
