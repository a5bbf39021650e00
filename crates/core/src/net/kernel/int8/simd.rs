//! The loops of the kernels, written once for all vector units: tiles of six rows by a few vectors, whose sums stay in
//! registers.
//!
//! Everything here is inlined into the entry points of `avx2`, `vnni`, `neon` and `wasm`, which enable the
//! instructions.

use std::mem::zeroed;

use super::{Dense8, Int8, Rows16, first_outputs, hidden, outputs};
use crate::net::kernel::Epilogue;

/// Adjacent inputs of a column in a panel: as many bytes as a lane has.
const DEPTH: usize = 4;

/// A vector unit. A value of such a type exists only if the CPU has the unit.
///
/// # Safety
/// Implementors guarantee that registers are plain data: `Integers` of four bytes for every lane, weights of `DEPTH`
/// bytes, and `Sums` the same as `Integers` unless `totals` is their own.
///
/// Callers guarantee a processor with the unit. Pointers are to `DEPTH * LANES` weights or to `DEPTH` inputs; they need
/// no alignment.
pub(in crate::net) unsafe trait Unit: Copy + Send + Sync + 'static {
    /// A register of `LANES` sums, of `2 * LANES` words, or of inputs.
    type Integers: Copy;
    /// The weights of `DEPTH` inputs for `LANES` columns.
    type Weights: Copy;
    /// Sums for `LANES` columns, or parts of them.
    type Sums: Copy;
    /// Sums per register.
    const LANES: usize;
    /// Vectors of a full panel: at most four, so that six rows of sums fit into the registers.
    const VECTORS: usize;

    /// [`super::quantise`], compiled with the unit's instructions.
    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32;
    /// [`dense`], compiled with the unit's instructions. `layer.check(input, scales, epilogue)` passed.
    unsafe fn run_dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>);
    /// [`sum_rows`], compiled with the unit's instructions. `table.check(rows, out)` passed.
    unsafe fn run_sum_rows(table: &Rows16, rows: &[u32], out: &mut [f32]);

    /// Loads weights.
    #[inline(always)]
    unsafe fn weights(from: *const i8) -> Self::Weights {
        // SAFETY: the caller's promise.
        unsafe { load(from) }
    }
    /// Loads `DEPTH` inputs and repeats them for every column.
    unsafe fn repeat(from: *const u8) -> Self::Integers;
    /// Adds to `sums` the products of the inputs and weights of each column.
    unsafe fn multiply(sums: Self::Sums, inputs: Self::Integers, weights: Self::Weights) -> Self::Sums;
    /// Adds word by word.
    unsafe fn add_words(left: Self::Integers, right: Self::Integers) -> Self::Integers;
    /// The sum of each column.
    #[inline(always)]
    unsafe fn totals(sums: Self::Sums) -> Self::Integers {
        // SAFETY: the sums are the register, unless the unit has parts of them.
        unsafe { load(&raw const sums) }
    }
}

impl<U: Unit> Int8 for U {
    const COLUMNS: usize = U::VECTORS * U::LANES;
    const DEPTH: usize = DEPTH;

    fn quantise(self, row: &[f32], inputs: &mut [u8]) -> f32 {
        // SAFETY: holding `self` proves the unit.
        unsafe { U::run_quantise(row, inputs) }
    }

    fn dense(self, layer: &Dense8, input: &[u8], scales: &[f32], mut epilogue: Epilogue<'_>) {
        layer.check(input, scales, &epilogue);
        // SAFETY: holding `self` proves the unit; `check` proves every length.
        unsafe { U::run_dense(layer, input, scales, &mut epilogue) }
    }

    fn sum_rows(self, table: &Rows16, rows: &[u32], out: &mut [f32]) {
        table.check(rows, out);
        // SAFETY: holding `self` proves the unit; `check` proves every length.
        unsafe { U::run_sum_rows(table, rows, out) }
    }
}

/// Reads a register, or the numbers in one, at any alignment.
///
/// # Safety
/// There are as many bytes as `R` has, and it is plain data.
#[inline(always)]
unsafe fn load<R, N>(from: *const N) -> R {
    // SAFETY: the caller's promise.
    unsafe { from.cast::<R>().read_unaligned() }
}

/// The `N` numbers from this place on.
///
/// # Safety
/// There are as many.
#[inline(always)]
unsafe fn part<const N: usize>(numbers: &[f32], from: usize) -> &[f32; N] {
    // SAFETY: the caller's promise.
    unsafe { &*numbers.as_ptr().add(from).cast() }
}

/// Writes numbers from this place on.
///
/// # Safety
/// There is room for them.
#[inline(always)]
unsafe fn store<const N: usize>(numbers: [f32; N], out: &mut [f32], from: usize) {
    // SAFETY: the caller's promise.
    unsafe { out.as_mut_ptr().add(from).cast::<[f32; N]>().write(numbers) }
}

/// See [`Int8::dense`]; for the rows of `input` from `first` on.
///
/// # Safety
/// The processor has the unit, and `layer.check(input, scales, epilogue)` passed.
#[inline(always)]
pub(super) unsafe fn dense<U: Unit, const LANES: usize>(
    layer: &Dense8,
    input: &[u8],
    scales: &[f32],
    first: usize,
    epilogue: &mut Epilogue<'_>,
) {
    const { assert!(LANES == U::LANES && size_of::<U::Integers>() == 4 * LANES) };
    let mut column = 0;
    while column < layer.layer.outputs {
        let vectors = ((layer.layer.outputs - column) / LANES).min(U::VECTORS);
        // SAFETY: packing made the panel at `column` exactly this wide.
        unsafe {
            match vectors {
                1 => panel::<U, LANES, 1>(layer, input, scales, (first, column), epilogue),
                2 => panel::<U, LANES, 2>(layer, input, scales, (first, column), epilogue),
                3 => panel::<U, LANES, 3>(layer, input, scales, (first, column), epilogue),
                _ => panel::<U, LANES, 4>(layer, input, scales, (first, column), epilogue),
            }
        }
        column += vectors * LANES;
    }
}

/// # Safety
/// As [`dense`], and the panel that starts at `column` is `V` vectors wide.
#[inline(always)]
unsafe fn panel<U: Unit, const LANES: usize, const V: usize>(
    layer: &Dense8,
    input: &[u8],
    scales: &[f32],
    (mut row, column): (usize, usize),
    epilogue: &mut Epilogue<'_>,
) {
    let rows = scales.len();
    // SAFETY: each call takes as many rows as are left or fewer.
    unsafe {
        while row + 6 <= rows {
            tile::<U, LANES, 6, V>(layer, input, scales, row, column, epilogue);
            row += 6;
        }
        if row + 4 <= rows {
            tile::<U, LANES, 4, V>(layer, input, scales, row, column, epilogue);
            row += 4;
        }
        if row + 2 <= rows {
            tile::<U, LANES, 2, V>(layer, input, scales, row, column, epilogue);
            row += 2;
        }
        if row < rows {
            tile::<U, LANES, 1, V>(layer, input, scales, row, column, epilogue);
        }
    }
}

/// Multiplies rows `row..row + R` by the panel at `column`.
///
/// # Safety
/// As [`panel`], and `input` has `row + R` rows or more.
#[inline(always)]
unsafe fn tile<U: Unit, const LANES: usize, const R: usize, const V: usize>(
    layer: &Dense8,
    input: &[u8],
    scales: &[f32],
    row: usize,
    column: usize,
    epilogue: &mut Epilogue<'_>,
) {
    let inputs = layer.layer.inputs;
    // SAFETY: panels before this one hold `inputs * column` weights, this one `inputs * V * LANES` in groups of
    // `V * LANES * DEPTH`; rows of inputs come in whole groups.
    unsafe {
        let mut sums: [[U::Sums; V]; R] = zeroed();
        let panel = layer.layer.weights.as_ptr().add(inputs * column);
        let input = input.as_ptr().add(row * inputs);
        for group in 0..inputs / DEPTH {
            let size = LANES * DEPTH;
            let mut weights = [U::weights(panel.add(group * V * size)); V];
            for (vector, weights) in weights.iter_mut().enumerate().skip(1) {
                *weights = U::weights(panel.add((group * V + vector) * size));
            }
            for (index, sums) in sums.iter_mut().enumerate() {
                let number = U::repeat(input.add(index * inputs + group * DEPTH));
                for (sum, weights) in sums.iter_mut().zip(&weights) {
                    *sum = U::multiply(*sum, number, *weights);
                }
            }
        }
        // With this copy the compiler keeps the sums in registers during the loop above.
        let mut totals: [[U::Integers; V]; R] = zeroed();
        for (totals, sums) in totals.iter_mut().zip(sums) {
            for (total, sums) in totals.iter_mut().zip(sums) {
                *total = U::totals(sums);
            }
        }
        for (index, totals) in totals.iter().enumerate() {
            for (vector, totals) in totals.iter().enumerate() {
                let sums: [i32; LANES] = load(&raw const *totals);
                finish(layer, sums, scales, (row + index, column + vector * LANES), epilogue);
            }
        }
    }
}

/// Writes the outputs of a row from this column on.
///
/// # Safety
/// `layer.check` passed for `scales` and `epilogue`; there is that row, and the columns are in it.
#[inline(always)]
pub(super) unsafe fn finish<const LANES: usize>(
    layer: &Dense8,
    sums: [i32; LANES],
    scales: &[f32],
    (row, column): (usize, usize),
    epilogue: &mut Epilogue<'_>,
) {
    let place = row * layer.layer.outputs + column;
    // SAFETY: outputs and residuals are `[rows, outputs]`, the bias and the scales of columns are `[outputs]`, those of
    // rows `[rows]`.
    unsafe {
        let (columns, bias) = (part(&layer.scales, column), part(&layer.layer.bias, column));
        let scaled = outputs(sums, *scales.get_unchecked(row), columns, bias);
        match epilogue {
            Epilogue::Hidden { residual, out } => store(hidden(scaled, part(residual, place)), out, place),
            Epilogue::Sums { out } => store(scaled, out, place),
        }
    }
}

/// See [`Int8::sum_rows`].
///
/// # Safety
/// The processor has the unit, and `table.check(rows, out)` passed.
#[inline(always)]
pub(super) unsafe fn sum_rows<U: Unit, const LANES: usize>(table: &Rows16, rows: &[u32], out: &mut [f32]) {
    const { assert!(LANES == U::LANES && size_of::<U::Integers>() == 4 * LANES) };
    let vectors = table.width() / (2 * LANES);
    let mut vector = 0;
    // SAFETY: each call takes as many vectors as are left or fewer.
    unsafe {
        while vector + 8 <= vectors {
            add_up::<U, LANES, 8>(table, rows, vector * 2 * LANES, out);
            vector += 8;
        }
        while vector + 2 <= vectors {
            add_up::<U, LANES, 2>(table, rows, vector * 2 * LANES, out);
            vector += 2;
        }
        if vector < vectors {
            add_up::<U, LANES, 1>(table, rows, vector * 2 * LANES, out);
        }
    }
}

/// # Safety
/// As [`sum_rows`], and `column + 2 * V * LANES <= table.width()`.
#[inline(always)]
unsafe fn add_up<U: Unit, const LANES: usize, const V: usize>(
    table: &Rows16,
    rows: &[u32],
    column: usize,
    out: &mut [f32],
) {
    // SAFETY: every row is in the table, and `column + 2 * V * LANES` is at most its width, the length of the bias, the
    // scales and the output.
    unsafe {
        let mut sums: [U::Integers; V] = zeroed();
        for &row in rows {
            let row = table.rows.as_ptr().add(row as usize * table.width() + column);
            for (vector, sum) in sums.iter_mut().enumerate() {
                *sum = U::add_words(*sum, load(row.add(vector * 2 * LANES)));
            }
        }
        for (vector, sums) in sums.into_iter().enumerate() {
            let halves: [[i16; LANES]; 2] = load(&raw const sums);
            for (half, sums) in halves.into_iter().enumerate() {
                let place = column + (2 * vector + half) * LANES;
                store(first_outputs(sums, part(&table.scales, place), part(&table.bias, place)), out, place);
            }
        }
    }
}
