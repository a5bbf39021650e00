//! The built-in network as a module of burn.

use burn::module::Module;
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::network::{Outputs, OwnNetwork};
use jarmo_core::net::{NetSettings, NetShape};

/// The layers by their names in agent files.
#[derive(Module, Debug)]
pub(super) struct BuiltIn {
    stem: Linear,
    blocks: Vec<Linear>,
    policy: Linear,
    result: Linear,
    score: Option<Linear>,
}

impl OwnNetwork for BuiltIn {
    type Settings = NetSettings;

    /// A network of zeros. Its random weights come from [`jarmo_core::net::Weights::random`].
    fn new(&NetSettings { width, blocks }: &NetSettings, shape: &NetShape, device: &Device) -> BuiltIn {
        let layer =
            |inputs, outputs| LinearConfig::new(inputs, outputs).with_initializer(Initializer::Zeros).init(device);
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

    fn first(&self) -> Option<&Linear> {
        Some(&self.stem)
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
