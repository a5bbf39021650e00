//! The built-in network as a burn module.

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::module::linear;
use burn::tensor::{Device, Tensor};

use crate::network::{CustomNetwork, FirstLayer, Outputs};
use jarmo_core::net::{NetSettings, NetShape};

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
        let layer = |inputs, outputs| Linear {
            weight: Param::from_tensor(Tensor::zeros([inputs, outputs], device)),
            bias: Param::from_tensor(Tensor::zeros([outputs], device)),
        };
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
struct Linear {
    weight: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
}

impl Linear {
    fn forward(&self, inputs: Tensor<2>) -> Tensor<2> {
        linear(inputs, self.weight.val(), Some(self.bias.val()))
    }
}
