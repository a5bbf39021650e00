//! The convolutional network. Activations lie cell by cell, `[cell, row, channel]`, so that every
//! cell of a layer is one product over the cells around it, with the batch as rows; what lies
//! outside the board is left out rather than multiplied by zero.

use std::mem::swap;
use std::ops::Range;

use super::{Packed, Scratch, pack_heads};
use crate::net::config::{NetConfig, NetShape};
use crate::net::features::FeatureBatch;
use crate::net::kernel::{Batch, Dense, Finish, Kernel, Table, Term};
use crate::net::weights::Weights;

const CHUNK: usize = 48; // whole tiles of six rows
const TAPS: usize = 9;

/// A convolutional network, packed for one kernel.
pub(super) struct ConvNet<K: Kernel> {
    kernel: K,
    shape: NetShape,
    width: usize,
    head_channels: usize,
    stem: Table<K::Element>, // [tap x board plane, then number feature][width]
    stem_bias: Vec<f32>,
    blocks: Vec<[Dense<K::Element>; 2]>,
    head: Dense<K::Element>,          // 1x1
    heads: Dense<K::Element>,         // one tap for each cell
    around: Vec<Vec<(usize, usize)>>, // by cell: tap and cell of its neighbours and itself
}

/// Which rows of the stem's table a position adds up.
struct StemLists {
    numbers: Vec<u32>,   // in every cell
    near: Vec<Vec<u32>>, // by cell: only there
    start: Vec<f32>,     // the sum of what is in every cell
}

impl<K: Kernel> ConvNet<K> {
    pub(super) fn pack(kernel: K, weights: &Weights) -> ConvNet<K> {
        let NetConfig::Conv {
            width,
            blocks,
            head_channels,
        } = weights.config()
        else {
            unreachable!("only convolutional networks come here");
        };
        let shape = *weights.shape();
        let planes = shape.board_planes;
        let board = weights.get("stem.board.weight"); // [width, planes, 3, 3]
        let numbers = weights.get("stem.numbers.weight"); // [numbers, width]
        let stem_rows = TAPS * planes + shape.features() - shape.board_features();
        let stem = Table::pack::<K>((stem_rows, width), |row, column| {
            match row.checked_sub(TAPS * planes) {
                None => board[(column * planes + row % planes) * TAPS + row / planes],
                Some(number) => numbers[number * width + column],
            }
        });
        let convolution = |name: String| {
            let kernel = weights.get(&format!("{name}.weight")); // [output, input, 3, 3]
            Dense::pack::<K>(
                (TAPS, width, width),
                |tap, input, output| kernel[(output * width + input) * TAPS + tap],
                weights.get(&format!("{name}.bias")),
            )
        };
        let head = weights.get("head.weight"); // [width, head_channels]
        ConvNet {
            kernel,
            shape,
            width,
            head_channels,
            stem,
            stem_bias: weights.get("stem.bias").to_vec(),
            blocks: (0..blocks)
                .map(|block| {
                    ["first", "second"].map(|layer| convolution(format!("blocks.{block}.{layer}")))
                })
                .collect(),
            head: Dense::pack::<K>(
                (1, width, head_channels),
                |_, input, output| head[input * head_channels + output],
                weights.get("head.bias"),
            ),
            heads: pack_heads::<K>(weights, shape.cells(), head_channels),
            around: (0..shape.cells())
                .map(|cell| shape.neighbours(cell).collect())
                .collect(),
        }
    }

    /// The first layer of one position: a row for every set number in all cells, and a row for
    /// every set board feature in the cells around it.
    fn stem(
        &self,
        features: &[u32],
        (row, rows): (usize, usize),
        trunk: &mut [K::Element],
        lists: &mut StemLists,
    ) {
        let (cells, planes) = (self.shape.cells(), self.shape.board_planes);
        let StemLists {
            numbers,
            near,
            start,
        } = lists;
        numbers.clear();
        for list in near.iter_mut() {
            list.clear();
        }
        for &feature in features {
            let feature = feature as usize;
            match feature.checked_sub(self.shape.board_features()) {
                Some(number) => numbers.push((TAPS * planes + number) as u32),
                None => {
                    let (plane, cell) = (feature / cells, feature % cells);
                    for &(tap, neighbour) in &self.around[cell] {
                        // Seen from the neighbour, the cell lies on the opposite side.
                        let seen = TAPS - 1 - tap;
                        near[neighbour].push((seen * planes + plane) as u32);
                    }
                }
            }
        }
        let finish = Finish::Sums { out: start };
        self.kernel
            .sum_rows(&self.stem, &self.stem_bias, numbers, finish);
        for (cell, list) in near.iter().enumerate() {
            let place = (cell * rows + row) * self.width;
            let finish = Finish::Hidden {
                residual: None,
                out: &mut trunk[place..place + self.width],
            };
            self.kernel.sum_rows(&self.stem, start, list, finish);
        }
    }

    /// One 3x3 convolution with its ReLU, cell by cell.
    fn convolve(
        &self,
        layer: &Dense<K::Element>,
        rows: usize,
        input: &[K::Element],
        residual: Option<&[K::Element]>,
        out: &mut [K::Element],
    ) {
        let size = rows * self.width;
        let mut terms = Vec::with_capacity(TAPS);
        for (cell, out) in out.chunks_exact_mut(size).enumerate() {
            terms.clear();
            terms.extend(self.around[cell].iter().map(|&(tap, cell)| Term {
                tap,
                input: cell * size,
            }));
            let batch = Batch {
                rows,
                input,
                terms: &terms,
            };
            let residual = residual.map(|kept| &kept[cell * size..][..size]);
            self.kernel
                .dense(layer, batch, Finish::Hidden { residual, out });
        }
    }
}

impl<K: Kernel> Packed for ConvNet<K> {
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
        self.shape.cells() * self.width.max(self.head_channels)
    }

    fn forward(
        &self,
        batch: &FeatureBatch,
        range: Range<usize>,
        scratch: &mut Scratch<K::Element>,
        out: &mut [f32],
    ) {
        let (rows, cells) = (range.len(), self.shape.cells());
        let size = rows * cells * self.width;
        let (mut trunk, mut next) = (&mut scratch.trunk[..], &mut scratch.next[..]);
        let inner = &mut scratch.inner[..size]; // [cells, rows, width], as the other two
        let mut lists = StemLists {
            numbers: Vec::new(),
            near: vec![Vec::new(); cells],
            start: vec![0.0; self.width],
        };
        for (row, position) in range.enumerate() {
            self.stem(batch.row(position), (row, rows), trunk, &mut lists);
        }
        for [first, second] in &self.blocks {
            let kept = &trunk[..size];
            self.convolve(first, rows, kept, None, inner);
            self.convolve(second, rows, inner, Some(kept), &mut next[..size]);
            swap(&mut trunk, &mut next);
        }
        let seen = &mut next[..rows * cells * self.head_channels]; // [cells, rows, head_channels]
        let everything = Batch {
            rows: cells * rows,
            input: trunk,
            terms: &[Term { tap: 0, input: 0 }],
        };
        let finish = Finish::Hidden {
            residual: None,
            out: seen,
        };
        self.kernel.dense(&self.head, everything, finish);
        let terms: Vec<Term> = (0..cells)
            .map(|cell| Term {
                tap: cell,
                input: cell * rows * self.head_channels,
            })
            .collect();
        let batch = Batch {
            rows,
            input: seen,
            terms: &terms,
        };
        self.kernel.dense(&self.heads, batch, Finish::Sums { out });
    }
}
