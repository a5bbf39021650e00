//! The loops of the kernels, written once for all vector units: tiles of six rows by a few vectors,
//! whose sums stay in registers.
//!
//! Everything here is inlined into the entry points of [`avx2`](super::avx2) and [`avx512`](super::avx512), which enable
//! the instructions.

use super::{Dense, Epilogue, Kernel, PackedRows};

/// A vector unit. Holding a value of such a type proves that this processor has the unit.
///
/// # Safety
/// Every function needs a processor with the unit. Pointers are to `LANES` numbers, or to one for `splat`; they need no
/// alignment.
pub(in crate::net) trait Simd: Copy + Send + Sync + 'static {
    /// A register of `LANES` numbers.
    type Floats: Copy;
    /// Numbers per register.
    const LANES: usize;
    /// Vectors of a full panel: at most four, so that six rows of sums fit into the registers.
    const VECTORS: usize;

    /// [`dense`], compiled with the unit's instructions. `layer.check(input, epilogue)` passed.
    unsafe fn run_dense(layer: &Dense<f32>, input: &[f32], epilogue: &mut Epilogue<'_>);
    /// [`sum_rows`], compiled with the unit's instructions. `table.check(rows, out)` passed.
    unsafe fn run_sum_rows(table: &PackedRows, rows: &[u32], out: &mut [f32]);
    /// A register of zeros.
    unsafe fn zero() -> Self::Floats;
    /// Loads numbers.
    unsafe fn load(from: *const f32) -> Self::Floats;
    /// A number in every lane.
    unsafe fn splat(from: *const f32) -> Self::Floats;
    /// Adds the products of inputs and weights to `sums`.
    unsafe fn multiply(sums: Self::Floats, inputs: Self::Floats, weights: Self::Floats) -> Self::Floats;
    /// Adds lane by lane.
    unsafe fn add(left: Self::Floats, right: Self::Floats) -> Self::Floats;
    /// Replaces negative numbers with zero.
    unsafe fn relu(numbers: Self::Floats) -> Self::Floats;
    /// Stores numbers.
    unsafe fn store(numbers: Self::Floats, to: *mut f32);
}

impl<S: Simd> Kernel for S {
    const COLUMNS: usize = S::VECTORS * S::LANES;

    fn dense(self, layer: &Dense<f32>, input: &[f32], mut epilogue: Epilogue<'_>) {
        layer.check(input.len(), &epilogue);
        // SAFETY: holding `self` proves the unit; `check` proves every length.
        unsafe { S::run_dense(layer, input, &mut epilogue) }
    }

    fn sum_rows(self, table: &PackedRows, rows: &[u32], out: &mut [f32]) {
        table.check(rows, out);
        // SAFETY: holding `self` proves the unit; `check` proves every length.
        unsafe { S::run_sum_rows(table, rows, out) }
    }
}

/// See [`Kernel::dense`].
///
/// # Safety
/// The processor has the unit, and `layer.check(input, epilogue)` passed.
#[inline(always)]
pub(super) unsafe fn dense<S: Simd>(layer: &Dense<f32>, input: &[f32], epilogue: &mut Epilogue<'_>) {
    let mut column = 0;
    while column < layer.outputs {
        let vectors = ((layer.outputs - column) / S::LANES).min(S::VECTORS);
        // SAFETY: packing made the panel at `column` exactly this wide.
        unsafe {
            match vectors {
                1 => panel::<S, 1>(layer, input, column, epilogue),
                2 => panel::<S, 2>(layer, input, column, epilogue),
                3 => panel::<S, 3>(layer, input, column, epilogue),
                _ => panel::<S, 4>(layer, input, column, epilogue),
            }
        }
        column += vectors * S::LANES;
    }
}

/// # Safety
/// As [`dense`], and the panel that starts at `column` is `V` vectors wide.
#[inline(always)]
unsafe fn panel<S: Simd, const V: usize>(
    layer: &Dense<f32>,
    input: &[f32],
    column: usize,
    epilogue: &mut Epilogue<'_>,
) {
    let rows = input.len() / layer.inputs;
    let mut row = 0;
    // SAFETY: each call takes as many rows as are left or fewer.
    unsafe {
        while row + 6 <= rows {
            tile::<S, 6, V>(layer, input, row, column, epilogue);
            row += 6;
        }
        if row + 4 <= rows {
            tile::<S, 4, V>(layer, input, row, column, epilogue);
            row += 4;
        }
        if row + 2 <= rows {
            tile::<S, 2, V>(layer, input, row, column, epilogue);
            row += 2;
        }
        if row < rows {
            tile::<S, 1, V>(layer, input, row, column, epilogue);
        }
    }
}

/// Multiplies rows `row..row + R` by the panel at `column`.
///
/// # Safety
/// As [`panel`], and `input` has `row + R` rows or more.
#[inline(always)]
unsafe fn tile<S: Simd, const R: usize, const V: usize>(
    layer: &Dense<f32>,
    input: &[f32],
    row: usize,
    column: usize,
    epilogue: &mut Epilogue<'_>,
) {
    let inputs = layer.inputs;
    // SAFETY: panels before this one hold `inputs * column` weights, this one `inputs * V * LANES`.
    // Outputs and residuals are `[rows, outputs]`, the bias is `[outputs]`.
    unsafe {
        let mut sums = [[S::zero(); V]; R];
        let panel = layer.weights.as_ptr().add(inputs * column);
        let input = input.as_ptr().add(row * inputs);
        for place in 0..inputs {
            let mut weights = [S::load(panel.add(place * V * S::LANES)); V];
            for (vector, weights) in weights.iter_mut().enumerate().skip(1) {
                *weights = S::load(panel.add((place * V + vector) * S::LANES));
            }
            for (index, sums) in sums.iter_mut().enumerate() {
                let number = S::splat(input.add(index * inputs + place));
                for (sum, weights) in sums.iter_mut().zip(&weights) {
                    *sum = S::multiply(*sum, number, *weights);
                }
            }
        }
        for (index, sums) in sums.iter().enumerate() {
            for (vector, &sum) in sums.iter().enumerate() {
                let column = column + vector * S::LANES;
                let place = (row + index) * layer.outputs + column;
                let sum = S::add(sum, S::load(layer.bias.as_ptr().add(column)));
                match epilogue {
                    Epilogue::Hidden { residual, out } => {
                        let sum = S::add(sum, S::load(residual.as_ptr().add(place)));
                        S::store(S::relu(sum), out.as_mut_ptr().add(place));
                    }
                    Epilogue::Sums { out } => S::store(sum, out.as_mut_ptr().add(place)),
                }
            }
        }
    }
}

/// See [`Kernel::sum_rows`].
///
/// # Safety
/// The processor has the unit, and `table.check(rows, out)` passed.
#[inline(always)]
pub(super) unsafe fn sum_rows<S: Simd>(table: &PackedRows, rows: &[u32], out: &mut [f32]) {
    let vectors = table.width() / S::LANES;
    let mut vector = 0;
    // SAFETY: each call takes as many vectors as are left or fewer.
    unsafe {
        while vector + 8 <= vectors {
            add_up::<S, 8>(table, rows, vector * S::LANES, out);
            vector += 8;
        }
        while vector + 2 <= vectors {
            add_up::<S, 2>(table, rows, vector * S::LANES, out);
            vector += 2;
        }
        if vector < vectors {
            add_up::<S, 1>(table, rows, vector * S::LANES, out);
        }
    }
}

/// # Safety
/// As [`sum_rows`], and `column + V * LANES <= table.width()`.
#[inline(always)]
unsafe fn add_up<S: Simd, const V: usize>(table: &PackedRows, rows: &[u32], column: usize, out: &mut [f32]) {
    // SAFETY: every row is in the table, and `column + V * LANES` is at most its width, the length of
    // the bias and of the output.
    unsafe {
        let mut sums = [S::zero(); V];
        for &row in rows {
            let first = row as usize * table.width() + column;
            let row = table.rows.as_ptr().add(first);
            for (vector, sum) in sums.iter_mut().enumerate() {
                *sum = S::add(*sum, S::load(row.add(vector * S::LANES)));
            }
        }
        for (vector, &sum) in sums.iter().enumerate() {
            let place = column + vector * S::LANES;
            let sum = S::add(sum, S::load(table.bias.as_ptr().add(place)));
            S::store(S::relu(sum), out.as_mut_ptr().add(place));
        }
    }
}
