//! The kernels' loops, written once for every vector unit: tiles of six rows by a few vectors of
//! sums that stay in registers while the inputs pass by.
//!
//! Everything here is inlined into the entry points of [`avx2`](super::avx2),
//! [`avx512`](super::avx512) and [`bf16`](super::bf16), where the processor's abilities are on.

use super::{Batch, Dense, Finish, Table};

/// What a vector unit does.
///
/// # Safety
/// Every function needs a processor with the unit. Pointers are to `LANES` numbers, or to
/// `LANES * DEPTH` elements for `weights` and `DEPTH` elements for `splat`; they need no alignment.
pub(super) trait Simd {
    /// What weights and activations are stored as.
    type Element: Copy + Default;
    /// A register of `LANES` sums.
    type Sums: Copy;
    /// A register of `LANES * DEPTH` elements.
    type Group: Copy;
    /// Sums in a register.
    const LANES: usize;
    /// Inputs that one multiplication adds up.
    const DEPTH: usize;
    /// Vectors of a full panel: at most four, so that six rows of sums fit the registers.
    const VECTORS: usize;

    /// Zeros.
    unsafe fn zero() -> Self::Sums;
    /// Weights of `LANES` columns and `DEPTH` inputs.
    unsafe fn weights(from: *const Self::Element) -> Self::Group;
    /// `DEPTH` inputs, repeated for every column.
    unsafe fn splat(from: *const Self::Element) -> Self::Group;
    /// `sums` plus the products, added up over the inputs of each column.
    unsafe fn multiply(sums: Self::Sums, inputs: Self::Group, weights: Self::Group) -> Self::Sums;
    /// Elements as numbers.
    unsafe fn widen(from: *const Self::Element) -> Self::Sums;
    /// Numbers.
    unsafe fn load(from: *const f32) -> Self::Sums;
    /// The sum of both.
    unsafe fn add(left: Self::Sums, right: Self::Sums) -> Self::Sums;
    /// What is below zero becomes zero.
    unsafe fn cut(sums: Self::Sums) -> Self::Sums;
    /// Rounds to elements and stores them.
    unsafe fn narrow(sums: Self::Sums, to: *mut Self::Element);
    /// Stores the numbers.
    unsafe fn store(sums: Self::Sums, to: *mut f32);
}

/// See [`Kernel::dense`](super::Kernel::dense).
///
/// # Safety
/// The processor has the unit, and `layer.check(batch, finish)` passed.
#[inline(always)]
pub(super) unsafe fn dense<S: Simd>(
    layer: &Dense<S::Element>,
    batch: &Batch<'_, S::Element>,
    finish: &mut Finish<'_, S::Element>,
) {
    let mut column = 0;
    while column < layer.outputs {
        let vectors = ((layer.outputs - column) / S::LANES).min(S::VECTORS);
        // SAFETY: packing made the panel at `column` exactly this wide.
        unsafe {
            match vectors {
                1 => panel::<S, 1>(layer, batch, column, finish),
                2 => panel::<S, 2>(layer, batch, column, finish),
                3 => panel::<S, 3>(layer, batch, column, finish),
                _ => panel::<S, 4>(layer, batch, column, finish),
            }
        }
        column += vectors * S::LANES;
    }
}

/// # Safety
/// As [`dense`], and the panel that starts at `column` is `V` vectors wide.
#[inline(always)]
unsafe fn panel<S: Simd, const V: usize>(
    layer: &Dense<S::Element>,
    batch: &Batch<'_, S::Element>,
    column: usize,
    finish: &mut Finish<'_, S::Element>,
) {
    let mut row = 0;
    // SAFETY: each call takes as many rows as are left or fewer.
    unsafe {
        while row + 6 <= batch.rows {
            tile::<S, 6, V>(layer, batch, row, column, finish);
            row += 6;
        }
        if row + 4 <= batch.rows {
            tile::<S, 4, V>(layer, batch, row, column, finish);
            row += 4;
        }
        if row + 2 <= batch.rows {
            tile::<S, 2, V>(layer, batch, row, column, finish);
            row += 2;
        }
        if row < batch.rows {
            tile::<S, 1, V>(layer, batch, row, column, finish);
        }
    }
}

/// Products of rows `row..row + R` with the panel at `column`.
///
/// # Safety
/// As [`panel`], and `row + R <= batch.rows`.
#[inline(always)]
unsafe fn tile<S: Simd, const R: usize, const V: usize>(
    layer: &Dense<S::Element>,
    batch: &Batch<'_, S::Element>,
    row: usize,
    column: usize,
    finish: &mut Finish<'_, S::Element>,
) {
    let inputs = layer.inputs;
    // SAFETY: panels before this one hold `taps * inputs * column` weights, this one
    // `taps * inputs * V * LANES` in groups of `V * LANES * DEPTH`, and `term.tap < taps`; inputs
    // of rows below `batch.rows` lie in `batch.input` for every term, and come in whole groups.
    // Outputs and residuals are `[rows, outputs]`, the bias is `[outputs]`.
    unsafe {
        let mut sums = [[S::zero(); V]; R];
        let panel = layer.weights.as_ptr().add(layer.taps * inputs * column);
        for term in batch.terms {
            let matrix = panel.add(term.tap * inputs * V * S::LANES);
            let input = batch.input.as_ptr().add(term.input + row * inputs);
            for group in 0..inputs / S::DEPTH {
                let mut weights = [S::weights(matrix.add(group * V * S::LANES * S::DEPTH)); V];
                for (vector, weights) in weights.iter_mut().enumerate().skip(1) {
                    let place = (group * V + vector) * S::LANES * S::DEPTH;
                    *weights = S::weights(matrix.add(place));
                }
                for (index, sums) in sums.iter_mut().enumerate() {
                    let number = S::splat(input.add(index * inputs + group * S::DEPTH));
                    for (sum, weights) in sums.iter_mut().zip(&weights) {
                        *sum = S::multiply(*sum, number, *weights);
                    }
                }
            }
        }
        for (index, sums) in sums.iter().enumerate() {
            for (vector, &sum) in sums.iter().enumerate() {
                let column = column + vector * S::LANES;
                let place = (row + index) * layer.outputs + column;
                complete::<S>(sum, layer.bias.as_ptr().add(column), place, finish);
            }
        }
    }
}

/// See [`Kernel::sum_rows`](super::Kernel::sum_rows).
///
/// # Safety
/// The processor has the unit, and `table.check(start, rows, finish)` passed.
#[inline(always)]
pub(super) unsafe fn sum_rows<S: Simd>(
    table: &Table<S::Element>,
    start: &[f32],
    rows: &[u32],
    finish: &mut Finish<'_, S::Element>,
) {
    let vectors = table.width / S::LANES;
    let mut vector = 0;
    // SAFETY: each call takes as many vectors as are left or fewer.
    unsafe {
        while vector + 8 <= vectors {
            add_up::<S, 8>(table, start, rows, vector * S::LANES, finish);
            vector += 8;
        }
        while vector + 2 <= vectors {
            add_up::<S, 2>(table, start, rows, vector * S::LANES, finish);
            vector += 2;
        }
        if vector < vectors {
            add_up::<S, 1>(table, start, rows, vector * S::LANES, finish);
        }
    }
}

/// # Safety
/// As [`sum_rows`], and `column + V * LANES <= table.width`.
#[inline(always)]
unsafe fn add_up<S: Simd, const V: usize>(
    table: &Table<S::Element>,
    start: &[f32],
    rows: &[u32],
    column: usize,
    finish: &mut Finish<'_, S::Element>,
) {
    // SAFETY: every row is in the table, `column + V * LANES` at most its width, and that is the
    // length of `start` and of the output.
    unsafe {
        let mut sums = [S::zero(); V];
        for &row in rows {
            let first = row as usize * table.width + column;
            let row = table.rows.as_ptr().add(first);
            for (vector, sum) in sums.iter_mut().enumerate() {
                *sum = S::add(*sum, S::widen(row.add(vector * S::LANES)));
            }
        }
        for (vector, &sum) in sums.iter().enumerate() {
            let place = column + vector * S::LANES;
            complete::<S>(sum, start.as_ptr().add(place), place, finish);
        }
    }
}

/// Adds the bias to a sum and finishes it.
///
/// # Safety
/// The processor has the unit; `bias` has `LANES` numbers; output and residual have
/// `place + LANES`.
#[inline(always)]
unsafe fn complete<S: Simd>(
    sum: S::Sums,
    bias: *const f32,
    place: usize,
    finish: &mut Finish<'_, S::Element>,
) {
    // SAFETY: the lengths are the caller's promise.
    unsafe {
        let sum = S::add(sum, S::load(bias));
        match finish {
            Finish::Hidden { residual, out } => {
                let sum = match residual {
                    Some(kept) => S::add(sum, S::widen(kept.as_ptr().add(place))),
                    None => sum,
                };
                S::narrow(S::cut(sum), out.as_mut_ptr().add(place));
            }
            Finish::Sums { out } => S::store(sum, out.as_mut_ptr().add(place)),
        }
    }
}
