//! Plain code for every machine, and the twin of the other kernels.

use super::{Batch, Dense, Finish, Kernel, LANES, Table};

/// The kernel that every machine has.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Portable;

const ROWS: usize = 4; // computed together, so that a weight is read once for all of them

impl Kernel for Portable {
    type Element = f32;
    const COLUMNS: usize = LANES;
    const DEPTH: usize = 1;

    fn element(number: f32) -> f32 {
        number
    }

    fn dense(self, layer: &Dense<f32>, batch: Batch<'_, f32>, mut finish: Finish<'_, f32>) {
        layer.check(&batch, &finish);
        let panel_size = layer.taps * layer.inputs * LANES;
        for panel in 0..layer.outputs / LANES {
            let weights = &layer.weights[panel * panel_size..][..panel_size];
            let column = panel * LANES;
            let mut row = 0;
            while row < batch.rows {
                let together = ROWS.min(batch.rows - row);
                let sums = match together {
                    ROWS => tile::<ROWS>(layer, &batch, weights, row),
                    _ => {
                        let mut sums = [[0.0; LANES]; ROWS];
                        for (index, sum) in sums[..together].iter_mut().enumerate() {
                            [*sum] = tile::<1>(layer, &batch, weights, row + index);
                        }
                        sums
                    }
                };
                for (index, sum) in sums[..together].iter().enumerate() {
                    let bias = &layer.bias[column..column + LANES];
                    let place = (row + index) * layer.outputs + column;
                    store(sum, bias, place, &mut finish);
                }
                row += together;
            }
        }
    }

    fn sum_rows(
        self,
        table: &Table<f32>,
        start: &[f32],
        rows: &[u32],
        mut finish: Finish<'_, f32>,
    ) {
        table.check(start, rows, &finish);
        for column in (0..table.width).step_by(LANES) {
            let mut sum = [0.0; LANES];
            for &row in rows {
                let row = &table.rows[row as usize * table.width + column..][..LANES];
                for (sum, number) in sum.iter_mut().zip(row) {
                    *sum += number;
                }
            }
            store(&sum, &start[column..column + LANES], column, &mut finish);
        }
    }
}

/// The products of `R` rows with one panel.
#[inline]
fn tile<const R: usize>(
    layer: &Dense<f32>,
    batch: &Batch<'_, f32>,
    weights: &[f32],
    row: usize,
) -> [[f32; LANES]; R] {
    let mut sums = [[0.0; LANES]; R];
    for term in batch.terms {
        let first = term.input + row * layer.inputs;
        let inputs: [&[f32]; R] = std::array::from_fn(|index| {
            &batch.input[first + index * layer.inputs..][..layer.inputs]
        });
        let matrix = &weights[term.tap * layer.inputs * LANES..][..layer.inputs * LANES];
        for (place, weights) in matrix.chunks_exact(LANES).enumerate() {
            for (sum, input) in sums.iter_mut().zip(inputs) {
                let input = input[place];
                for (sum, weight) in sum.iter_mut().zip(weights) {
                    *sum += input * weight;
                }
            }
        }
    }
    sums
}

#[inline]
fn store(sum: &[f32; LANES], bias: &[f32], place: usize, finish: &mut Finish<'_, f32>) {
    match finish {
        Finish::Hidden { residual, out } => {
            for (index, (sum, bias)) in sum.iter().zip(bias).enumerate() {
                let kept = residual.map_or(0.0, |residual| residual[place + index]);
                out[place + index] = (sum + bias + kept).max(0.0);
            }
        }
        Finish::Sums { out } => {
            for (index, (sum, bias)) in sum.iter().zip(bias).enumerate() {
                out[place + index] = sum + bias;
            }
        }
    }
}
