//! A small convolution for connect four, as a custom network.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::{Device, Tensor, activation::relu};
use jarmo::Games;
use jarmo::games::ConnectFour;
use jarmo::net::NetShape;
use jarmo::train::{CustomNetwork, Outputs, register};

const ROWS: usize = 6;
const COLUMNS: usize = 7;

/// What differs between networks of this type.
#[derive(Clone, Copy)]
pub struct Settings {
    pub channels: usize,
}

/// A convolution over the planes of features, and a second one that is added to it.
#[derive(Module, Debug)]
pub struct Conv {
    first: Conv2d,
    second: Conv2d,
    policy: Linear,
    result: Linear,
}

impl CustomNetwork for Conv {
    type Settings = Settings;

    fn new(settings: &Settings, shape: &NetShape, device: &Device) -> Conv {
        let planes = shape.features / (ROWS * COLUMNS);
        let conv = |from, to| {
            let config = Conv2dConfig::new([from, to], [3, 3]);
            let config = config.with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1));
            config.init(device)
        };
        let cells = settings.channels * ROWS * COLUMNS;
        let head = |outputs| LinearConfig::new(cells, outputs).init(device);
        Conv {
            first: conv(planes, settings.channels),
            second: conv(settings.channels, settings.channels),
            policy: head(shape.actions),
            result: head(3),
        }
    }

    fn forward(&self, features: Tensor<2>) -> Outputs {
        let [rows, inputs] = features.dims();
        let planes = inputs / (ROWS * COLUMNS);
        let first = relu(self.first.forward(features.reshape([rows, planes, ROWS, COLUMNS])));
        let second = relu(self.second.forward(first.clone()) + first);
        let cells: Tensor<2> = second.flatten(1, 3);
        Outputs { policy: self.policy.forward(cells.clone()), result: self.result.forward(cells), score: None }
    }
}

/// The games of this program: connect four, which trains the convolution.
pub fn games() -> Games {
    register::<Conv>("conv16", Settings { channels: 16 });
    let games = Games::empty().register(ConnectFour::new(0));
    games.trained_with(include_str!("../custom_network.toml"))
}
