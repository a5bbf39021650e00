//! Portable code for every machine, and the reference for the other kernels of this kind.

use super::{Dense8, Int8, Rows16, row_scale};
use crate::net::kernel::{Epilogue, LANES};

/// Added to a small number, this leaves its nearest integer in the lowest bits, ties to even: a float of this size has
/// no bits behind the point.
pub(super) const ROUND: f32 = (1 << 23) as f32;

/// The kernel for every machine.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Portable8;

impl Int8 for Portable8 {
    const COLUMNS: usize = LANES;
    const DEPTH: usize = 1;

    fn quantise(self, row: &[f32], inputs: &mut [u8]) -> f32 {
        let most = row.iter().copied().fold(0.0, f32::max);
        let (scale, inverse) = row_scale(most);
        for (input, number) in inputs.iter_mut().zip(row) {
            *input = (number * inverse + ROUND).to_bits() as u8;
        }
        scale
    }

    fn dense(self, layer: &Dense8, input: &[u8], scales: &[f32], mut epilogue: Epilogue<'_>) {
        layer.check(input, scales, &epilogue);
        let Dense8 { layer, scales: columns } = layer;
        for (panel, weights) in layer.weights.chunks_exact(layer.inputs * LANES).enumerate() {
            for (row, (input, scale)) in input.chunks_exact(layer.inputs).zip(scales).enumerate() {
                for (column, sum) in (panel * LANES..).zip(product(weights, input)) {
                    let number = sum as f32 * (scale * columns[column]) + layer.bias[column];
                    let place = row * layer.outputs + column;
                    match &mut epilogue {
                        Epilogue::Hidden { residual, out } => out[place] = (number + residual[place]).max(0.0),
                        Epilogue::Sums { out } => out[place] = number,
                    }
                }
            }
        }
    }

    fn sum_rows(self, table: &Rows16, rows: &[u32], out: &mut [f32]) {
        table.check(rows, out);
        for (column, out) in (0..table.width()).step_by(LANES).zip(out.chunks_exact_mut(LANES)) {
            let mut sums = [0_i16; LANES];
            for &row in rows {
                let row = &table.rows[row as usize * table.width() + column..];
                for (sum, number) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*number);
                }
            }
            for ((column, sum), out) in (column..).zip(sums).zip(out) {
                *out = (f32::from(sum) * table.scales[column] + table.bias[column]).max(0.0);
            }
        }
    }
}

/// The product of a row with one panel, `[input][column]`.
#[inline]
fn product(weights: &[i8], input: &[u8]) -> [i32; LANES] {
    let mut sums = [0; LANES];
    for (input, weights) in input.chunks_exact(2).zip(weights.chunks_exact(2 * LANES)) {
        let [first, second] = [input[0], input[1]].map(i16::from);
        let (firsts, seconds) = weights.split_at(LANES);
        for ((sum, left), right) in sums.iter_mut().zip(firsts).zip(seconds) {
            *sum += i32::from(first * i16::from(*left) + second * i16::from(*right));
        }
    }
    sums
}
