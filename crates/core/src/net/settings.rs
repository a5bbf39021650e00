//! The architecture of a network: its size, the shape of its inputs and outputs, and the tensors that
//! follow from both.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::custom::NetKind;
use crate::encode::Encode;
use crate::game::MAX_ACTIONS;
use crate::numbers::{Bounds, NumberRange};

/// Widths are multiples of this, so that kernels need no partial vectors.
const WIDTH_STEP: usize = 32;

/// The size of a network. Its first layer adds up one row of weights per feature that is 1. Then follow `blocks`
/// residual blocks, `h = relu(h + W h + b)`, and the heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetSettings {
    /// Units per layer.
    pub width: usize,
    /// Residual blocks of one layer each.
    pub blocks: usize,
}

/// The size of a tower: a network over the cells of a board. Each cell has `width` numbers, which `blocks` blocks of
/// attention between the cells change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TowerSettings {
    /// Numbers per cell.
    pub width: usize,
    /// Residual blocks, each of attention and of two layers for every cell.
    pub blocks: usize,
    /// The cells of the game's board. Features have the shape `[planes, cells]`.
    pub cells: usize,
}

/// The inputs and outputs of a network, which follow from the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetShape {
    /// The number of input features, threats included.
    pub features: usize,
    /// The number of actions, and of policy logits.
    pub actions: usize,
    /// The largest point difference; 0 in games without points.
    pub points: usize,
}

/// The error for an invalid size, or for weights that do not fit it. The message says what is expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NetError(pub(super) String);

/// Name and dimensions of one weight tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlan {
    /// The name in agent files.
    pub name: String,
    /// The dimensions, row-major: `[input, output]`, or `[output]` of a bias.
    pub dims: Vec<usize>,
    /// The number of inputs of each output, which determines the scale of random weights; 0 for a bias.
    pub fan_in: usize,
}

/// Outputs of the result head: win, draw and loss of the player to move.
pub const RESULTS: usize = 3;

impl NetShape {
    /// The shape for this game.
    pub fn of<G: Encode>(game: &G) -> NetShape {
        NetShape { features: game.input_count(), actions: game.actions(), points: usize::from(game.max_points()) }
    }

    /// Fails for numbers outside the supported range.
    pub fn validate(&self) -> Result<(), NetError> {
        for (name, number, least, most) in [
            ("features", self.features, 1, 1 << 15),
            ("actions", self.actions, 1, MAX_ACTIONS),
            ("points", self.points, 0, 127),
        ] {
            if number < least || number > most {
                return Err(NetError(format!("shape.{name} = {number}: it must be from {least} to {most}")));
            }
        }
        Ok(())
    }

    /// Outputs of the score head: one for each difference from `-points` to `points`.
    pub fn scores(&self) -> usize {
        if self.points == 0 { 0 } else { 2 * self.points + 1 }
    }

    /// The heads by name, with the outputs of each.
    pub fn heads(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let heads = [("policy", self.actions), ("result", RESULTS), ("score", self.scores())];
        heads.into_iter().filter(|&(_, outputs)| outputs > 0)
    }

    /// Outputs of all heads together.
    pub fn outputs(&self) -> usize {
        self.heads().map(|(_, outputs)| outputs).sum()
    }
}

impl NetSettings {
    /// Widths; they are also multiples of 32.
    pub const WIDTH: NumberRange<u64> = NumberRange::new(WIDTH_STEP as u64, 4096);
    /// Numbers of blocks.
    pub const BLOCKS: NumberRange<u64> = NumberRange::new(0, 64);
    /// The bounds of both.
    pub const BOUNDS: [(&str, Bounds); 2] =
        [("width", Bounds::Whole(NetSettings::WIDTH)), ("blocks", Bounds::Whole(NetSettings::BLOCKS))];

    /// Fails for sizes that the kernels do not support.
    pub fn validate(&self) -> Result<(), NetError> {
        let NetSettings { width, blocks } = *self;
        let bounds = NetSettings::WIDTH;
        if !bounds.contains(width as u64) || !width.is_multiple_of(WIDTH_STEP) {
            return Err(NetError(format!(
                "net.width = {width}: it must be a multiple of {WIDTH_STEP} from {} to {}",
                bounds.least, bounds.most
            )));
        }
        let bounds = NetSettings::BLOCKS;
        if !bounds.contains(blocks as u64) {
            return Err(NetError(format!("net.blocks = {blocks}: it must be {bounds}")));
        }
        Ok(())
    }

    /// Fails if a network of size `from` cannot grow to this size.
    pub fn check_growth(&self, from: NetSettings) -> Result<(), NetError> {
        if self.width >= from.width && self.blocks >= from.blocks {
            return Ok(());
        }
        Err(NetError(format!(
            "its network is {from}, the settings say {self}, and a network cannot shrink; \
             omit net.* to keep its size"
        )))
    }

    /// Every tensor of the network, in the order of computation.
    pub fn tensors(&self, shape: &NetShape) -> Vec<TensorPlan> {
        let width = self.width;
        let set = (shape.features / 10).max(1); // About a tenth of the features are set.
        let stem = ("stem".to_owned(), shape.features, width, set);
        let blocks = (0..self.blocks).map(|block| (format!("blocks.{block}"), width, width, width));
        let heads = shape.heads();
        let heads = heads.map(|(name, outputs)| (name.to_owned(), width, outputs, width));
        let layers = std::iter::once(stem).chain(blocks).chain(heads);
        layers.flat_map(|(name, inputs, outputs, fan_in)| layer(&name, inputs, outputs, fan_in)).collect()
    }

    /// The number of weights.
    pub fn parameters(&self, shape: &NetShape) -> usize {
        self.tensors(shape).iter().map(TensorPlan::size).sum()
    }
}

/// Matrix and bias of a layer.
fn layer(name: &str, inputs: usize, outputs: usize, fan_in: usize) -> [TensorPlan; 2] {
    let tensor =
        |part: &str, dims: &[usize], fan_in| TensorPlan { name: format!("{name}.{part}"), dims: dims.to_vec(), fan_in };
    [tensor("weight", &[inputs, outputs], fan_in), tensor("bias", &[outputs], 0)]
}

impl TowerSettings {
    /// Fails for sizes that a tower cannot have.
    pub fn validate(&self, shape: &NetShape) -> Result<(), NetError> {
        let TowerSettings { width, blocks, cells } = *self;
        NetSettings { width, blocks }.validate()?;
        if cells == 0 || !shape.features.is_multiple_of(cells) {
            return Err(NetError(format!("tower.cells = {cells}: {} features are no planes of it", shape.features)));
        }
        Ok(())
    }

    /// Attention heads: each compares this many numbers of two cells.
    pub const HEAD_WIDTH: usize = WIDTH_STEP;

    /// Numbers per cell that the heads of the network see.
    pub const NECK: usize = 16;

    /// Every tensor of the tower, in the order of computation.
    pub fn tensors(&self, shape: &NetShape) -> Vec<TensorPlan> {
        let TowerSettings { width, blocks, cells } = *self;
        let planes = shape.features / cells;
        let mut plans = layer("stem", planes, width, (planes / 10).max(1)).to_vec();
        let tensor = |name: String, dims: &[usize]| TensorPlan { name, dims: dims.to_vec(), fan_in: 0 };
        plans.push(tensor("places".to_owned(), &[cells, width]));
        for block in 0..blocks {
            let name = |part: &str| format!("blocks.{block}.{part}");
            plans.push(tensor(name("scales"), &[2, width]));
            plans.extend(layer(&name("compare"), width, 3 * width, width));
            plans.push(tensor(name("pairs"), &[width / TowerSettings::HEAD_WIDTH, cells, cells]));
            plans.extend(layer(&name("merge"), width, width, width));
            plans.extend(layer(&name("widen"), width, 2 * width, width));
            plans.extend(layer(&name("narrow"), 2 * width, width, 2 * width));
        }
        plans.push(tensor("scale".to_owned(), &[width]));
        plans.extend(layer("neck", width, TowerSettings::NECK, width));
        let inputs = cells * TowerSettings::NECK;
        plans.extend(shape.heads().flat_map(|(name, outputs)| layer(name, inputs, outputs, inputs)));
        plans
    }

    /// The number of weights.
    pub fn parameters(&self, shape: &NetShape) -> usize {
        self.tensors(shape).iter().map(TensorPlan::size).sum()
    }
}

impl TensorPlan {
    /// The number of weights in this tensor.
    pub fn size(&self) -> usize {
        self.dims.iter().product()
    }
}

impl fmt::Display for NetSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}x{}", NetKind::MLP, self.width, self.blocks)
    }
}

impl fmt::Display for TowerSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}x{}", NetKind::TOWER, self.width, self.blocks)
    }
}
