//! What a network looks like: its size as a person chooses it, the game it must fit, and the
//! tensors that follow from both.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::encode::Encode;

/// Widths are multiples of this, so that no kernel ever sees a partial vector.
pub const WIDTH_STEP: usize = 32;

const WIDEST: usize = 4096;
const DEEPEST: usize = 64;

/// The architecture of a network, as a person chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum NetConfig {
    /// Fully connected: the rows of the set features added up, then `blocks` times
    /// `h = relu(h + W h + b)`.
    Mlp {
        /// Numbers in a layer.
        width: usize,
        /// Residual blocks, one square layer each.
        blocks: usize,
    },
    /// Convolutional: 3x3 over the board planes plus a row for every set number, then `blocks` times
    /// `h = relu(h + B relu(A h + a) + b)` with 3x3 convolutions, then 1x1 to `head_channels`.
    Conv {
        /// Numbers in a cell.
        width: usize,
        /// Residual blocks, two convolutions each.
        blocks: usize,
        /// Numbers in a cell that the heads see.
        head_channels: usize,
    },
}

/// What a network must fit: what a game puts in, and what it wants out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetShape {
    /// Feature planes.
    pub planes: usize,
    /// Those of them that say something about each cell; they come first.
    pub board_planes: usize,
    /// Rows of a plane.
    pub rows: usize,
    /// Columns of a plane.
    pub columns: usize,
    /// Action indices.
    pub actions: usize,
    /// The largest score difference; 0 in games without points.
    pub points: usize,
}

/// A size that no network can have, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetConfigError(pub(super) String);

impl fmt::Display for NetConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for NetConfigError {}

/// Name and dimensions of one weight tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlan {
    /// The name in agent files.
    pub name: String,
    /// The dimensions, row-major: `[input, output]`, or `[output, input, 3, 3]` of a convolution.
    pub dims: Vec<usize>,
    /// How many numbers an output adds up, for the size of the first random weights; 0 for a bias.
    pub fan_in: usize,
}

impl NetShape {
    /// What a network for this game must fit.
    pub fn of<G: Encode>(game: &G) -> NetShape {
        let (rows, columns) = game.grid();
        NetShape {
            planes: game.planes() + game.threat_planes(),
            board_planes: game.board_planes(),
            rows,
            columns,
            actions: game.actions(),
            points: usize::from(game.most_points()),
        }
    }

    /// Refuses numbers that no game has.
    pub fn validate(&self) -> Result<(), NetConfigError> {
        for (name, number, most) in [
            ("planes", self.planes, 1024),
            ("rows", self.rows, 64),
            ("columns", self.columns, 64),
            ("actions", self.actions, 1 << 16),
        ] {
            if number == 0 || number > most {
                return Err(NetConfigError(format!(
                    "shape.{name} = {number}: it must be from 1 to {most}"
                )));
            }
        }
        for (name, number, most) in [
            ("board_planes", self.board_planes, self.planes),
            ("points", self.points, 127),
        ] {
            if number > most {
                return Err(NetConfigError(format!(
                    "shape.{name} = {number}: it must be at most {most}"
                )));
            }
        }
        Ok(())
    }

    /// Cells of a plane.
    pub fn cells(&self) -> usize {
        self.rows * self.columns
    }

    /// Features of a position.
    pub fn features(&self) -> usize {
        self.planes * self.cells()
    }

    /// Features that say something about one cell.
    pub fn board_features(&self) -> usize {
        self.board_planes * self.cells()
    }

    /// Numbers of the score head: one for each difference from `-points` to `points`.
    pub fn scores(&self) -> usize {
        if self.points == 0 {
            0
        } else {
            2 * self.points + 1
        }
    }

    /// Numbers of all heads together.
    pub fn outputs(&self) -> usize {
        self.actions + RESULTS + self.scores()
    }

    /// The cells that a 3x3 convolution sees from `cell`, each with its place in the 3x3 square.
    /// Places outside the board are left out.
    pub fn neighbours(&self, cell: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (row, column) = (cell / self.columns, cell % self.columns);
        (0..9).filter_map(move |tap| {
            let (row, column) = (row + tap / 3, column + tap % 3); // one too many each
            let inside = (1..=self.rows).contains(&row) && (1..=self.columns).contains(&column);
            inside.then(|| (tap, (row - 1) * self.columns + column - 1))
        })
    }
}

/// Numbers of the result head: win, draw, loss of the player to move.
pub const RESULTS: usize = 3;

impl NetConfig {
    /// Numbers in a layer, or in a cell of it.
    pub fn width(&self) -> usize {
        match *self {
            NetConfig::Mlp { width, .. } | NetConfig::Conv { width, .. } => width,
        }
    }

    /// Residual blocks.
    pub fn blocks(&self) -> usize {
        match *self {
            NetConfig::Mlp { blocks, .. } | NetConfig::Conv { blocks, .. } => blocks,
        }
    }

    /// Refuses sizes that the kernels cannot run or nobody can want.
    pub fn validate(&self) -> Result<(), NetConfigError> {
        let wide = |name: &str, width: usize| {
            if width > 0 && width <= WIDEST && width.is_multiple_of(WIDTH_STEP) {
                return Ok(());
            }
            Err(NetConfigError(format!(
                "net.{name} = {width}: it must be a multiple of {WIDTH_STEP} from {WIDTH_STEP} to {WIDEST}"
            )))
        };
        wide("width", self.width())?;
        if let NetConfig::Conv { head_channels, .. } = *self {
            wide("head_channels", head_channels)?;
        }
        if self.blocks() > DEEPEST {
            return Err(NetConfigError(format!(
                "net.blocks = {}: at most {DEEPEST} are possible",
                self.blocks()
            )));
        }
        Ok(())
    }

    /// Every tensor of the network, in the order of computation.
    pub fn tensors(&self, shape: &NetShape) -> Vec<TensorPlan> {
        let mut plan = Plan(Vec::new());
        let width = self.width();
        let trunk = match *self {
            NetConfig::Mlp { blocks, .. } => {
                // About a tenth of the features are set.
                let set = (shape.features() / 10).max(1);
                plan.weight("stem.weight", &[shape.features(), width], set);
                plan.bias("stem.bias", width);
                for block in 0..blocks {
                    let name = format!("blocks.{block}");
                    plan.weight(&format!("{name}.weight"), &[width, width], width);
                    plan.bias(&format!("{name}.bias"), width);
                }
                width
            }
            NetConfig::Conv {
                blocks,
                head_channels,
                ..
            } => {
                let set = shape.board_planes.max(1);
                let board = [width, shape.board_planes, 3, 3];
                plan.weight("stem.board.weight", &board, set);
                let numbers = shape.features() - shape.board_features();
                plan.weight("stem.numbers.weight", &[numbers, width], 8);
                plan.bias("stem.bias", width);
                for block in 0..blocks {
                    for layer in ["first", "second"] {
                        let name = format!("blocks.{block}.{layer}");
                        let dims = [width, width, 3, 3];
                        plan.weight(&format!("{name}.weight"), &dims, 9 * width);
                        plan.bias(&format!("{name}.bias"), width);
                    }
                }
                plan.weight("head.weight", &[width, head_channels], width);
                plan.bias("head.bias", head_channels);
                head_channels * shape.cells()
            }
        };
        for (name, outputs) in [
            ("policy", shape.actions),
            ("result", RESULTS),
            ("score", shape.scores()),
        ] {
            if outputs > 0 {
                plan.weight(&format!("{name}.weight"), &[trunk, outputs], trunk);
                plan.bias(&format!("{name}.bias"), outputs);
            }
        }
        plan.0
    }

    /// How many numbers are learned.
    pub fn parameters(&self, shape: &NetShape) -> usize {
        let sizes = self.tensors(shape);
        sizes
            .iter()
            .map(|tensor| tensor.dims.iter().product::<usize>())
            .sum()
    }
}

impl fmt::Display for NetConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            NetConfig::Mlp { width, blocks } => write!(out, "mlp {width}x{blocks}"),
            NetConfig::Conv {
                width,
                blocks,
                head_channels,
            } => write!(out, "conv {width}x{blocks}, {head_channels} to the heads"),
        }
    }
}

struct Plan(Vec<TensorPlan>);

impl Plan {
    fn weight(&mut self, name: &str, dims: &[usize], fan_in: usize) {
        self.0.push(TensorPlan {
            name: name.to_owned(),
            dims: dims.to_vec(),
            fan_in,
        });
    }

    fn bias(&mut self, name: &str, outputs: usize) {
        self.weight(name, &[outputs], 0);
    }
}
