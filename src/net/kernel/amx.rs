//! AMX with bf16: products by the tile unit, 16 rows by 16 columns by 32 inputs at a time, and all
//! else by [`bf16`](super::bf16).
//!
//! Blocks are two tiles of rows by two of columns, so that every tile that is loaded is used twice.
//! The rows of a batch are dealt out evenly to an even number of tiles, all of one height. Where that
//! does not come out even the last ones overlap: a row in two tiles is computed twice, to the same bits.

use std::sync::OnceLock;

use super::bf16::{Avx512Bf16, Bf16};
use super::portable::Portable;
use super::simd::{self, Simd};
use super::tiles::{self, Block, Sums, Tiles, Unit};
use super::{Aligned, Batch, Dense, Finish, Kernel, LANES, Table, Term};

/// The kernel of processors with AMX, on Linux; elsewhere there is none. Holding one proves that this
/// process may use it.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct AmxBf16 {
    unit: Unit,
    vectors: Avx512Bf16,
}

impl AmxBf16 {
    /// The kernel, if this processor can run it, the system permits it, and it computes an example
    /// rightly. The first call asks and tries, in microseconds.
    pub(in crate::net) fn detect() -> Option<AmxBf16> {
        static RIGHT: OnceLock<bool> = OnceLock::new();
        let kernel = AmxBf16 {
            vectors: Avx512Bf16::detect()?,
            unit: Unit::detect()?,
        };
        let right = *RIGHT.get_or_init(|| example(kernel) == example(Portable));
        right.then_some(kernel)
    }
}

impl Kernel for AmxBf16 {
    type Element = Bf16;
    const COLUMNS: usize = tiles::COLUMNS;
    const DEPTH: usize = 2;

    fn element(number: f32) -> Bf16 {
        Bf16::from(number)
    }

    fn dense(self, layer: &Dense<Bf16>, batch: Batch<'_, Bf16>, mut finish: Finish<'_, Bf16>) {
        layer.check(&batch, &finish);
        // No tile is empty.
        if batch.rows > 0 {
            // SAFETY: holding `self` proves AMX and AVX-512 with bf16; `check` proves every length.
            unsafe { dense(self.unit, layer, &batch, &mut finish) }
        }
    }

    fn sum_rows(self, table: &Table<Bf16>, start: &[f32], rows: &[u32], finish: Finish<'_, Bf16>) {
        self.vectors.sum_rows(table, start, rows, finish);
    }
}

/// # Safety
/// The processor has AVX-512 with bf16, `layer.check(batch, finish)` passed, and there are rows.
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn dense(
    unit: Unit,
    layer: &Dense<Bf16>,
    batch: &Batch<'_, Bf16>,
    finish: &mut Finish<'_, Bf16>,
) {
    let count = 2 * batch.rows.div_ceil(2 * tiles::ROWS);
    let height = batch.rows.div_ceil(count);
    let depth = depth(layer.inputs);
    // SAFETY: nothing below, and nobody above, has tiles.
    let shaped = unsafe { Tiles::shape(unit, height, depth) };
    let first = |tile: usize| (tile * height).min(batch.rows - height);
    let mut sums = Sums::new();
    for column in (0..layer.outputs).step_by(tiles::COLUMNS) {
        for tile in (0..count).step_by(2) {
            let rows = [first(tile), first(tile + 1)];
            let block = block(layer, batch, depth, column, rows);
            // SAFETY: both tiles' rows are in the batch, and the panel at `column` is in the layer.
            unsafe {
                shaped.multiply(&block, &mut sums);
                complete(layer, &sums, (rows, height), column, finish);
            }
        }
    }
}

/// Inputs of one step: the most that fit a tile and leave no rest. All of a tile, in networks.
fn depth(inputs: usize) -> usize {
    (2..=tiles::DEPTH)
        .rev()
        .step_by(2)
        .find(|&depth| inputs.is_multiple_of(depth))
        .expect("packing takes inputs in pairs")
}

/// Tiles that start at two rows, times the panel at `column`.
fn block(
    layer: &Dense<Bf16>,
    batch: &Batch<'_, Bf16>,
    depth: usize,
    column: usize,
    [upper, lower]: [usize; 2],
) -> Block {
    const BYTES: usize = size_of::<Bf16>();
    let columns = tiles::COLUMNS.min(layer.outputs - column);
    let matrix = layer.inputs * columns;
    Block {
        terms: batch.terms.as_ptr_range().start,
        end: batch.terms.as_ptr_range().end,
        // It lies in the batch once a term's input is added.
        input: batch.input.as_ptr().wrapping_add(upper * layer.inputs),
        lower: (lower - upper) * layer.inputs * BYTES,
        row: layer.inputs * BYTES,
        input_step: depth * BYTES,
        weights: layer.weights[layer.taps * layer.inputs * column..].as_ptr(),
        right: if columns > LANES {
            2 * LANES * BYTES
        } else {
            0
        },
        line: 2 * columns * BYTES,
        weights_step: depth * columns * BYTES,
        matrix: matrix * BYTES,
    }
}

/// Finishes the sums of two tiles of rows, `height` from each of `rows`, in the panel at `column`.
///
/// # Safety
/// The processor has AVX-512 with bf16; rows and columns are the layer's, and `finish` has all of them.
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn complete(
    layer: &Dense<Bf16>,
    sums: &Sums,
    (rows, height): ([usize; 2], usize),
    column: usize,
    finish: &mut Finish<'_, Bf16>,
) {
    let columns = tiles::COLUMNS.min(layer.outputs - column);
    for (first, lower) in rows.into_iter().zip([false, true]) {
        for row in 0..height {
            let sums = sums.row(lower, row);
            for lane in (0..columns).step_by(LANES) {
                let place = (first + row) * layer.outputs + column + lane;
                // SAFETY: as the caller promises; `sums` and the bias have `LANES` numbers from there.
                unsafe {
                    let sum = Avx512Bf16::load(sums.as_ptr().add(lane));
                    let bias = layer.bias.as_ptr().add(column + lane);
                    simd::complete::<Avx512Bf16>(sum, bias, place, finish);
                }
            }
        }
    }
}

/// A product of small whole numbers, which are exact in every format: two terms of two steps, tiles that
/// overlap, a wide panel and a narrow one.
fn example<K: Kernel>(kernel: K) -> Vec<f32> {
    const TAPS: usize = 2;
    const ROWS: usize = 3;
    const INPUTS: usize = 2 * tiles::DEPTH;
    const OUTPUTS: usize = 3 * LANES;
    let number = |place: usize| (place * 7 % 11) as f32 - 5.0;
    let layer = Dense::pack::<K>(
        (TAPS, INPUTS, OUTPUTS),
        |tap, input, output| number(tap + 3 * input + 5 * output),
        &[1.0; OUTPUTS],
    );
    let mut input = Aligned::new(TAPS * ROWS * INPUTS);
    for (place, element) in input.iter_mut().enumerate() {
        *element = K::element(number(place + place / INPUTS));
    }
    let terms = [(0, 1), (1, 0)].map(|(tap, part)| Term {
        tap,
        input: part * ROWS * INPUTS,
    });
    let batch = Batch {
        rows: ROWS,
        input: &input,
        terms: &terms,
    };
    let mut sums = vec![0.0; ROWS * OUTPUTS];
    kernel.dense(&layer, batch, Finish::Sums { out: &mut sums });
    sums
}
