//! The fully connected network.

use std::mem::swap;
use std::ops::Range;

use super::{Packed, Scratch, pack_heads};
use crate::net::config::NetShape;
use crate::net::features::FeatureBatch;
use crate::net::kernel::{Batch, Dense, Finish, Kernel, Table, Term};
use crate::net::weights::Weights;

const CHUNK: usize = 96; // whole tiles of six rows

/// A fully connected network, packed for one kernel.
pub(super) struct Mlp<K: Kernel> {
    kernel: K,
    shape: NetShape,
    width: usize,
    stem: Table<K::Element>, // [features, width]
    stem_bias: Vec<f32>,
    blocks: Vec<Dense<K::Element>>,
    heads: Dense<K::Element>,
}

impl<K: Kernel> Mlp<K> {
    pub(super) fn pack(kernel: K, weights: &Weights) -> Mlp<K> {
        let config = weights.config();
        let width = config.width();
        let shape = *weights.shape();
        let stem = weights.get("stem.weight");
        let block = |index| {
            let matrix = weights.get(&format!("blocks.{index}.weight"));
            Dense::pack::<K>(
                (1, width, width),
                |_, input, output| matrix[input * width + output],
                weights.get(&format!("blocks.{index}.bias")),
            )
        };
        Mlp {
            kernel,
            shape,
            width,
            stem: Table::pack::<K>((shape.features(), width), |row, column| {
                stem[row * width + column]
            }),
            stem_bias: weights.get("stem.bias").to_vec(),
            blocks: (0..config.blocks()).map(block).collect(),
            heads: pack_heads::<K>(weights, 1, width),
        }
    }
}

impl<K: Kernel> Packed for Mlp<K> {
    type Element = K::Element;

    fn shape(&self) -> &NetShape {
        &self.shape
    }

    fn stride(&self) -> usize {
        self.heads.outputs()
    }

    fn chunk(&self) -> usize {
        CHUNK
    }

    fn activations(&self) -> usize {
        self.width
    }

    fn forward(
        &self,
        batch: &FeatureBatch,
        range: Range<usize>,
        scratch: &mut Scratch<K::Element>,
        out: &mut [f32],
    ) {
        let rows = range.len();
        let size = rows * self.width;
        let mut trunk = &mut scratch.trunk[..size]; // [rows, width]
        let mut next = &mut scratch.next[..size];
        for (row, hidden) in range.zip(trunk.chunks_exact_mut(self.width)) {
            let finish = Finish::Hidden {
                residual: None,
                out: hidden,
            };
            self.kernel
                .sum_rows(&self.stem, &self.stem_bias, batch.row(row), finish);
        }
        let terms = [Term { tap: 0, input: 0 }];
        for block in &self.blocks {
            let input = Batch {
                rows,
                input: trunk,
                terms: &terms,
            };
            let finish = Finish::Hidden {
                residual: Some(trunk),
                out: next,
            };
            self.kernel.dense(block, input, finish);
            swap(&mut trunk, &mut next);
        }
        let input = Batch {
            rows,
            input: trunk,
            terms: &terms,
        };
        self.kernel.dense(&self.heads, input, Finish::Sums { out });
    }
}
