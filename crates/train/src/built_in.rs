//! The built-in network as a burn module.

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::module::linear;
use burn::tensor::{Device, FloatDType, Tensor};

use crate::network::{CustomNetwork, FirstLayer, Layers, Outputs};
use crate::tensors::matrix;
use jarmo_core::net::{NetSettings, NetShape, Weights};

/// The layers. Their names are those in agent files.
#[derive(Module, Debug)]
pub(crate) struct BuiltIn {
    stem: Linear,
    blocks: Vec<Linear>,
    policy: Linear,
    result: Linear,
    score: Option<Linear>,
}

impl CustomNetwork for BuiltIn {
    type Settings = NetSettings;

    /// A network of zeros. Its random weights come from [`jarmo_core::net::Weights::random`].
    fn new(&NetSettings { width, blocks }: &NetSettings, shape: &NetShape, device: &Device) -> BuiltIn {
        let layer = |inputs, outputs| Linear::zeros(inputs, outputs, device);
        BuiltIn {
            stem: layer(shape.features, width),
            blocks: (0..blocks).map(|_| layer(width, width)).collect(),
            policy: layer(width, shape.actions),
            result: layer(width, 3),
            score: (shape.points > 0).then(|| layer(width, shape.scores())),
        }
    }

    fn forward(&self, features: Tensor<2>) -> Outputs {
        self.after_first(self.stem.forward(features))
    }

    fn first(&self) -> Option<FirstLayer<'_>> {
        Some(FirstLayer { weight: &self.stem.weight, bias: Some(&self.stem.bias) })
    }

    fn after_first(&self, sums: Tensor<2>) -> Outputs {
        let trunk = self.blocks.iter().fold(relu(sums), |trunk, block| relu(trunk.clone() + block.forward(trunk)));
        Outputs {
            policy: self.policy.forward(trunk.clone()),
            result: self.result.forward(trunk.clone()),
            score: self.score.as_ref().map(|score| score.forward(trunk)),
        }
    }
}

/// A linear layer. Burn's own is in its crate of layers, which takes long to compile.
#[derive(Module, Debug)]
pub(crate) struct Linear {
    weight: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
}

impl Linear {
    pub(crate) fn zeros(inputs: usize, outputs: usize, device: &Device) -> Linear {
        Linear {
            weight: Param::from_tensor(Tensor::zeros([inputs, outputs], device)),
            bias: Param::from_tensor(Tensor::zeros([outputs], device)),
        }
    }

    pub(crate) fn forward(&self, inputs: Tensor<2>) -> Tensor<2> {
        linear(inputs, self.weight.val(), Some(self.bias.val()))
    }
}

/// The same network for evaluation on a GPU, with as few operations as possible.
#[derive(Clone)]
pub(crate) struct Folded {
    stem: Tensor<2>,             // [features + 1, width]; the last row is the bias
    blocks: Vec<[Tensor<2>; 2]>, // matrix plus identity, which is the residual connection, and bias
    heads: [Tensor<2>; 2],       // all heads as one layer
}

impl Folded {
    pub(crate) fn new(weights: &Weights, device: &Device) -> Folded {
        let NetSettings { width, blocks } = weights.settings();
        let layer = |weights: Vec<f32>, bias: Vec<f32>| {
            let outputs = bias.len();
            [matrix(weights, [width, outputs], device), matrix(bias, [1, outputs], device)]
        };
        let block = |index| {
            let [weights, bias] = weights.layer(&format!("blocks.{index}")).map(<[f32]>::to_vec);
            let mut weights = weights;
            weights.iter_mut().step_by(width + 1).for_each(|weight| *weight += 1.0);
            layer(weights, bias)
        };
        let stem = weights.layer("stem").concat();
        let (heads, bias) = weights.heads();
        Folded {
            stem: matrix(stem, [weights.shape().features + 1, width], device),
            blocks: (0..blocks).map(block).collect(),
            heads: layer(heads, bias),
        }
    }
}

impl Layers for Folded {
    fn with_numbers(self, numbers: FloatDType) -> Folded {
        let layer = |layer: [Tensor<2>; 2]| layer.map(|part| part.cast(numbers));
        Folded {
            stem: self.stem.cast(numbers),
            blocks: self.blocks.into_iter().map(layer).collect(),
            heads: layer(self.heads),
        }
    }

    fn outputs(&self, features: Tensor<2>, _: &NetShape) -> Tensor<2> {
        // Burn's own ReLU launches two kernels, this launches one.
        let relu = |sums: Tensor<2>| sums.clamp(0.0, f32::MAX);
        let layer = |trunk: Tensor<2>, [weights, bias]: &[Tensor<2>; 2]| trunk.matmul(weights.clone()) + bias.clone();
        let trunk = relu(features.matmul(self.stem.clone()));
        let trunk = self.blocks.iter().fold(trunk, |trunk, block| relu(layer(trunk, block)));
        layer(trunk, &self.heads)
    }

    fn kernels(&self) -> Option<u64> {
        Some(2 + 3 * self.blocks.len() as u64 + 2)
    }
}
