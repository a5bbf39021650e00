//! The computations in 32-bit floats. The order of additions is the same for every row, batch and machine, so a row
//! gives the same bits everywhere.

use super::{Aligned, Dense, Epilogue, LANES};

const ROWS: usize = 4; // computed together, so that each weight is read once for all of them

/// The rows of the first layer: `[row][width]`.
pub(in crate::net) struct FloatRows {
    rows: Aligned<f32>,
    bias: Aligned<f32>, // [width], a multiple of LANES
}

impl FloatRows {
    /// Copies a matrix `[rows, width]` and its bias `[width]`.
    pub(in crate::net) fn pack(matrix: &[f32], bias: &[f32]) -> FloatRows {
        assert!(bias.len().is_multiple_of(LANES), "rows in whole vectors");
        assert!(matrix.len().is_multiple_of(bias.len()), "whole rows");
        FloatRows { rows: matrix.into(), bias: bias.into() }
    }

    /// The ReLU of the bias plus these rows: `[width]`.
    pub(in crate::net) fn sum(&self, rows: &[u32], out: &mut [f32]) {
        let width = self.bias.len();
        assert_eq!(out.len(), width, "one output for every column");
        for column in (0..width).step_by(LANES) {
            let mut sum = [0.0; LANES];
            for &row in rows {
                let row = &self.rows[row as usize * width + column..][..LANES];
                for (sum, number) in sum.iter_mut().zip(row) {
                    *sum += number;
                }
            }
            let out = &mut out[column..column + LANES];
            for ((out, sum), bias) in out.iter_mut().zip(sum).zip(&self.bias[column..]) {
                *out = (sum + bias).max(0.0);
            }
        }
    }
}

impl Dense<f32> {
    /// Packs a matrix `[inputs, outputs]` and its bias `[outputs]`.
    pub(in crate::net) fn floats(matrix: &[f32], bias: &[f32]) -> Dense<f32> {
        Dense::pack(matrix, bias, LANES, 1, |number| number)
    }

    /// For every row of `input`, `[rows, inputs]`: computes its product with the weights plus the bias, then applies
    /// the epilogue.
    pub(in crate::net) fn multiply(&self, input: &[f32], mut epilogue: Epilogue<'_>) {
        self.check(input.len(), &epilogue);
        for (panel, weights) in self.weights.chunks_exact(self.inputs * LANES).enumerate() {
            let column = panel * LANES;
            let bias = &self.bias[column..column + LANES];
            let mut row = 0;
            for rows in input.chunks(ROWS * self.inputs) {
                let mut sums = [[0.0; LANES]; ROWS];
                let together = rows.len() / self.inputs;
                match together {
                    ROWS => sums = tile::<ROWS>(weights, rows),
                    _ => {
                        for (sum, input) in sums.iter_mut().zip(rows.chunks(self.inputs)) {
                            [*sum] = tile::<1>(weights, input);
                        }
                    }
                }
                for sum in &sums[..together] {
                    store(sum, bias, row * self.outputs + column, &mut epilogue);
                    row += 1;
                }
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
