//! Portable code for every machine, and the reference for the other kernels of this kind.

use super::{Dense8, Int8, Rows16, first_outputs, hidden, outputs, quantise};
use crate::net::kernel::{Dense, Epilogue, LANES};

/// The kernel for every machine.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Portable8;

impl Int8 for Portable8 {
    const COLUMNS: usize = LANES;
    const DEPTH: usize = 1;

    fn quantise(self, row: &[f32], inputs: &mut [u8]) -> f32 {
        quantise::<LANES>(row, inputs)
    }

    fn dense(self, layer: &Dense8, input: &[u8], scales: &[f32], mut epilogue: Epilogue<'_>) {
        layer.check(input, scales, &epilogue);
        let Dense { weights, bias, inputs, outputs: width } = &layer.layer;
        let columns = layer.scales.as_chunks().0.iter().zip(bias.as_chunks().0);
        let panels = weights.chunks_exact(inputs * LANES).zip(columns);
        for (panel, (weights, (columns, bias))) in panels.enumerate() {
            for (row, (input, scale)) in input.chunks_exact(*inputs).zip(scales).enumerate() {
                let place = row * width + panel * LANES;
                let numbers = outputs(product(weights, input), *scale, columns, bias);
                match &mut epilogue {
                    Epilogue::Hidden { residual, out } => {
                        let residual = residual[place..].first_chunk().expect("rows are whole");
                        out[place..][..LANES].copy_from_slice(&hidden(numbers, residual));
                    }
                    Epilogue::Sums { out } => out[place..][..LANES].copy_from_slice(&numbers),
                }
            }
        }
    }

    fn sum_rows(self, table: &Rows16, rows: &[u32], out: &mut [f32]) {
        table.check(rows, out);
        let columns = table.scales.as_chunks().0.iter().zip(table.bias.as_chunks().0);
        for ((panel, (scales, bias)), out) in columns.enumerate().zip(out.as_chunks_mut().0) {
            let mut sums = [0_i16; LANES];
            for &row in rows {
                let row = &table.rows[row as usize * table.width() + panel * LANES..];
                for (sum, number) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*number);
                }
            }
            *out = first_outputs(sums, scales, bias);
        }
    }
}

/// The product of a row with one panel, `[input][column]`. Inlined, it would take three times as long.
#[inline(never)]
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
