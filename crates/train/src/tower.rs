//! The tower as a burn module: a network of attention between the cells of a board, for devices that compute much more
//! than a core of the CPU.

use burn::module::{Module, Param};
use burn::tensor::activation::{relu, softmax};
use burn::tensor::{Device, Tensor};

use crate::built_in::Linear;
use crate::network::{CustomNetwork, Outputs};
use jarmo_core::net::{NetShape, TowerSettings};

/// Added to mean squares before they divide.
const LEAST_SQUARE: f32 = 1e-6;

/// The layers. Their names are those in agent files.
#[derive(Module, Debug)]
pub(crate) struct Tower {
    stem: Linear,             // of each cell, from the planes
    places: Param<Tensor<2>>, // [cells, width]: what is added to each cell
    blocks: Vec<Block>,
    scale: Param<Tensor<1>>,
    neck: Linear, // of each cell
    policy: Linear,
    result: Linear,
    score: Option<Linear>,
}

/// Attention between cells, and then two layers for each cell. Both are added to the cell's numbers.
#[derive(Module, Debug)]
struct Block {
    scales: Param<Tensor<2>>, // [2, width]: of the inputs of both parts, less 1
    compare: Linear,          // to queries, keys and values of all attention heads
    pairs: Param<Tensor<3>>,  // [heads, cells, cells]: how much each cell looks at each other one, whatever is there
    merge: Linear,
    widen: Linear,
    narrow: Linear,
}

impl CustomNetwork for Tower {
    type Settings = TowerSettings;

    /// A tower of zeros. Its random weights come from [`jarmo_core::net::Weights::random`].
    fn new(&TowerSettings { width, blocks, cells }: &TowerSettings, shape: &NetShape, device: &Device) -> Tower {
        let inputs = cells * TowerSettings::NECK;
        let head = |outputs| Linear::zeros(inputs, outputs, device);
        let block = |_| Block {
            scales: Param::from_tensor(Tensor::zeros([2, width], device)),
            compare: Linear::zeros(width, 3 * width, device),
            pairs: Param::from_tensor(Tensor::zeros([width / TowerSettings::HEAD_WIDTH, cells, cells], device)),
            merge: Linear::zeros(width, width, device),
            widen: Linear::zeros(width, 2 * width, device),
            narrow: Linear::zeros(2 * width, width, device),
        };
        Tower {
            stem: Linear::zeros(shape.features / cells, width, device),
            places: Param::from_tensor(Tensor::zeros([cells, width], device)),
            blocks: (0..blocks).map(block).collect(),
            scale: Param::from_tensor(Tensor::zeros([width], device)),
            neck: Linear::zeros(width, TowerSettings::NECK, device),
            policy: head(shape.actions),
            result: head(3),
            score: (shape.points > 0).then(|| head(shape.scores())),
        }
    }

    fn forward(&self, features: Tensor<2>) -> Outputs {
        let ([rows, inputs], [cells, width]) = (features.dims(), self.places.dims());
        let planes = inputs / cells;
        let of_cells = features.reshape([rows, planes, cells]).swap_dims(1, 2).reshape([rows * cells, planes]);
        let trunk = self.stem.forward(of_cells).reshape([rows, cells, width]);
        let trunk = (trunk + self.places.val().unsqueeze()).reshape([rows * cells, width]);
        let trunk = self.blocks.iter().fold(trunk, |trunk, block| block.forward(trunk, rows));
        let seen = relu(self.neck.forward(scaled(trunk, self.scale.val())));
        let seen = seen.reshape([rows, cells * TowerSettings::NECK]);
        Outputs {
            policy: self.policy.forward(seen.clone()),
            result: self.result.forward(seen.clone()),
            score: self.score.as_ref().map(|score| score.forward(seen)),
        }
    }
}

impl Block {
    /// The trunk, `[rows * cells, width]`, after this block.
    fn forward(&self, trunk: Tensor<2>, rows: usize) -> Tensor<2> {
        let ([_, width], [heads, cells, _]) = (trunk.dims(), self.pairs.dims());
        let scale = |part: usize| self.scales.val().slice([part..part + 1, 0..width]).reshape([width]);
        let compared = self.compare.forward(scaled(trunk.clone(), scale(0)));
        let part = |number: usize| -> Tensor<4> {
            let part = compared.clone().slice([0..rows * cells, number * width..(number + 1) * width]);
            part.reshape([rows, cells, heads, width / heads]).swap_dims(1, 2)
        };
        let (queries, keys, values) = (part(0), part(1), part(2));
        let like = queries.matmul(keys.swap_dims(2, 3)) / ((width / heads) as f32).sqrt();
        let shares = softmax(like + self.pairs.val().unsqueeze(), 3);
        let found = shares.matmul(values).swap_dims(1, 2).reshape([rows * cells, width]);
        let trunk = trunk + self.merge.forward(found);
        let hidden = relu(self.widen.forward(scaled(trunk.clone(), scale(1))));
        trunk + self.narrow.forward(hidden)
    }
}

/// The numbers of each cell divided by the root of their mean square, and multiplied by 1 + `scale`.
fn scaled(trunk: Tensor<2>, scale: Tensor<1>) -> Tensor<2> {
    let squares = (trunk.clone() * trunk.clone()).mean_dim(1) + LEAST_SQUARE;
    trunk / squares.sqrt() * (scale + 1.0).unsqueeze()
}
