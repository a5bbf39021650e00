//! The tensors of a module by their names: read, and replaced.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};

use super::loss::numbers;
use jarmo_core::net::{self, Weights};

/// All tensors of a module by name.
pub(super) fn tensors<M: Module>(module: &M) -> BTreeMap<String, net::Tensor> {
    let mut reader = Reader::default();
    module.visit(&mut reader);
    reader.tensors
}

/// The module with these weights, without gradients.
pub(super) fn with_weights<M: Module>(module: M, weights: &Weights) -> M {
    let path = Vec::new();
    module.valid().map(&mut Writer { path, weights })
}

#[derive(Default)]
struct Reader {
    path: Vec<String>,
    tensors: BTreeMap<String, net::Tensor>,
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

/// Gives a module the weights of these names.
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
