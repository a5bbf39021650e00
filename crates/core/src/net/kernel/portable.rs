//! Portable code for every machine, and the reference for the other kernels.

use super::{Dense, Epilogue, Kernel, LANES, PackedRows};

/// The kernel for every machine.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Portable;

const ROWS: usize = 4; // computed together, so that each weight is read once for all of them

impl Kernel for Portable {
    const COLUMNS: usize = LANES;

    fn dense(self, layer: &Dense<f32>, input: &[f32], mut epilogue: Epilogue<'_>) {
        layer.check(input.len(), &epilogue);
        for (panel, weights) in layer.weights.chunks_exact(layer.inputs * LANES).enumerate() {
            let column = panel * LANES;
            let bias = &layer.bias[column..column + LANES];
            let mut row = 0;
            for rows in input.chunks(ROWS * layer.inputs) {
                let mut sums = [[0.0; LANES]; ROWS];
                let together = rows.len() / layer.inputs;
                match together {
                    ROWS => sums = tile::<ROWS>(weights, rows),
                    _ => {
                        for (sum, input) in sums.iter_mut().zip(rows.chunks(layer.inputs)) {
                            [*sum] = tile::<1>(weights, input);
                        }
                    }
                }
                for sum in &sums[..together] {
                    store(sum, bias, row * layer.outputs + column, &mut epilogue);
                    row += 1;
                }
            }
        }
    }

    fn sum_rows(self, table: &PackedRows, rows: &[u32], out: &mut [f32]) {
        table.check(rows, out);
        for column in (0..table.width()).step_by(LANES) {
            let mut sum = [0.0; LANES];
            for &row in rows {
                let row = &table.rows[row as usize * table.width() + column..][..LANES];
                for (sum, number) in sum.iter_mut().zip(row) {
                    *sum += number;
                }
            }
            let out = &mut out[column..column + LANES];
            for ((out, sum), bias) in out.iter_mut().zip(sum).zip(&table.bias[column..]) {
                *out = (sum + bias).max(0.0);
            }
        }
    }
}

/// The products of `R` rows, `[R, inputs]`, with one panel.
#[inline]
fn tile<const R: usize>(weights: &[f32], rows: &[f32]) -> [[f32; LANES]; R] {
    let mut sums = [[0.0; LANES]; R];
    let size = rows.len() / R;
    let inputs: [&[f32]; R] = std::array::from_fn(|row| &rows[row * size..][..size]);
    for (place, weights) in weights.chunks_exact(LANES).enumerate() {
        for (sum, input) in sums.iter_mut().zip(inputs) {
            let input = input[place];
            for (sum, weight) in sum.iter_mut().zip(weights) {
                *sum += input * weight;
            }
        }
    }
    sums
}

#[inline]
fn store(sum: &[f32; LANES], bias: &[f32], place: usize, epilogue: &mut Epilogue<'_>) {
    for (index, (sum, bias)) in sum.iter().zip(bias).enumerate() {
        let place = place + index;
        match epilogue {
            Epilogue::Hidden { residual, out } => out[place] = (sum + bias + residual[place]).max(0.0),
            Epilogue::Sums { out } => out[place] = sum + bias,
        }
    }
}
