//! The loops of the kernels, written once for all vector units: tiles of six rows by a few vectors, whose sums stay in
//! registers.
//!
//! Everything here is inlined into the entry points of `avx2`, `vnni`, `neon` and `wasm`, which enable the
//! instructions.

use std::mem::zeroed;

use super::{Dense8, Int8, Rows16, row_scale};
use crate::net::kernel::{Epilogue, LANES};

/// Adjacent inputs of a column in a panel: as many bytes as a lane has.
const DEPTH: usize = 4;

/// A vector unit. Holding a value of such a type proves that this processor has the unit.
///
/// # Safety
/// Every function needs a processor with the unit. Pointers are to `LANES` numbers, to `DEPTH * LANES` weights, or to
/// `DEPTH` inputs; they need no alignment. Registers are plain data of as many bytes as what is loaded into them.
pub(in crate::net) trait Unit: Copy + Send + Sync + 'static {
    /// A register of `LANES` floats.
    type Floats: Copy;
    /// A register of `2 * LANES` words, or of inputs.
    type Integers: Copy;
    /// The weights of `DEPTH` inputs for `LANES` columns.
    type Weights: Copy;
    /// Sums for `LANES` columns, or parts of them.
    type Sums: Copy;
    /// Floats per register.
    const LANES: usize;
    /// Vectors of a full panel: at most four, so that six rows of sums fit into the registers.
    const VECTORS: usize;

    /// [`quantise`], compiled with the unit's instructions.
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
    /// The sum of each column as a float.
    unsafe fn floats(sums: Self::Sums) -> Self::Floats;
    /// The first and the second half of the words as floats.
    unsafe fn halves(words: Self::Integers) -> [Self::Floats; 2];
    /// A float in every lane.
    unsafe fn splat(number: f32) -> Self::Floats;
    /// Adds lane by lane.
    unsafe fn add(left: Self::Floats, right: Self::Floats) -> Self::Floats;
    /// Multiplies lane by lane.
    unsafe fn scale(left: Self::Floats, right: Self::Floats) -> Self::Floats;
    /// The larger number in every lane.
    unsafe fn larger(left: Self::Floats, right: Self::Floats) -> Self::Floats;
    /// The largest number of all lanes.
    unsafe fn largest(numbers: Self::Floats) -> f32;
    /// Rounds floats from 0 to 255, ties to even, and stores them as bytes.
    unsafe fn store_bytes(numbers: Self::Floats, to: *mut u8);
}

impl<U: Unit> Int8 for U {
    const COLUMNS: usize = U::VECTORS * U::LANES;
    const DEPTH: usize = DEPTH;

    fn quantise(self, row: &[f32], inputs: &mut [u8]) -> f32 {
        assert!(row.len().is_multiple_of(LANES), "rows in whole vectors");
        assert_eq!(row.len(), inputs.len(), "an input for every number");
        // SAFETY: holding `self` proves the unit; the lengths were checked.
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

/// Loads a register from memory of any alignment.
///
/// # Safety
/// There are as many bytes of numbers as the register has.
#[inline(always)]
unsafe fn load<R, N>(from: *const N) -> R {
    // SAFETY: the caller's promise.
    unsafe { from.cast::<R>().read_unaligned() }
}

/// Stores a register to memory of any alignment.
///
/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn store<R, N>(register: R, to: *mut N) {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<R>().write_unaligned(register) }
}

/// See [`Int8::quantise`].
///
/// # Safety
/// The processor has the unit; both slices have the same length, a multiple of [`LANES`].
#[inline(always)]
pub(super) unsafe fn quantise<U: Unit>(row: &[f32], inputs: &mut [u8]) -> f32 {
    // SAFETY: a vector of the unit has `U::LANES` numbers, which divides the length.
    unsafe {
        let mut most = U::splat(0.0);
        for place in (0..row.len()).step_by(U::LANES) {
            most = U::larger(most, load(row.as_ptr().add(place)));
        }
        let (scale, inverse) = row_scale(U::largest(most));
        let inverse = U::splat(inverse);
        for place in (0..row.len()).step_by(U::LANES) {
            let number = U::scale(load(row.as_ptr().add(place)), inverse);
            U::store_bytes(number, inputs.as_mut_ptr().add(place));
        }
        scale
    }
}

/// See [`Int8::dense`]; for the rows of `input` from `first` on.
///
/// # Safety
/// The processor has the unit, and `layer.check(input, scales, epilogue)` passed.
#[inline(always)]
pub(super) unsafe fn dense<U: Unit>(
    layer: &Dense8,
    input: &[u8],
    scales: &[f32],
    first: usize,
    epilogue: &mut Epilogue<'_>,
) {
    let mut column = 0;
    while column < layer.layer.outputs {
        let vectors = ((layer.layer.outputs - column) / U::LANES).min(U::VECTORS);
        // SAFETY: packing made the panel at `column` exactly this wide.
        unsafe {
            match vectors {
                1 => panel::<U, 1>(layer, input, scales, (first, column), epilogue),
                2 => panel::<U, 2>(layer, input, scales, (first, column), epilogue),
                3 => panel::<U, 3>(layer, input, scales, (first, column), epilogue),
                _ => panel::<U, 4>(layer, input, scales, (first, column), epilogue),
            }
        }
        column += vectors * U::LANES;
    }
}

/// # Safety
/// As [`dense`], and the panel that starts at `column` is `V` vectors wide.
#[inline(always)]
unsafe fn panel<U: Unit, const V: usize>(
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
            tile::<U, 6, V>(layer, input, scales, row, column, epilogue);
            row += 6;
        }
        if row + 4 <= rows {
            tile::<U, 4, V>(layer, input, scales, row, column, epilogue);
            row += 4;
        }
        if row + 2 <= rows {
            tile::<U, 2, V>(layer, input, scales, row, column, epilogue);
            row += 2;
        }
        if row < rows {
            tile::<U, 1, V>(layer, input, scales, row, column, epilogue);
        }
    }
}

/// Multiplies rows `row..row + R` by the panel at `column`.
///
/// # Safety
/// As [`panel`], and `input` has `row + R` rows or more.
#[inline(always)]
unsafe fn tile<U: Unit, const R: usize, const V: usize>(
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
            let size = U::LANES * DEPTH;
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
        let mut numbers = [[U::splat(0.0); V]; R];
        for (numbers, sums) in numbers.iter_mut().zip(&sums) {
            for (number, sum) in numbers.iter_mut().zip(sums) {
                *number = U::floats(*sum);
            }
        }
        finish::<U, R, V>(layer, scales, numbers, row, column, epilogue);
    }
}

/// Writes rows `row..row + R` and the columns from `column` on, of which `numbers` are the sums.
///
/// # Safety
/// As [`dense`]; there are that many rows and columns.
#[inline(always)]
pub(super) unsafe fn finish<U: Unit, const R: usize, const V: usize>(
    layer: &Dense8,
    scales: &[f32],
    numbers: [[U::Floats; V]; R],
    row: usize,
    column: usize,
    epilogue: &mut Epilogue<'_>,
) {
    let Dense8 { layer, scales: columns } = layer;
    // SAFETY: outputs and residuals are `[rows, outputs]`, the bias and the scales of columns are `[outputs]`, those of
    // rows `[rows]`.
    unsafe {
        for (index, numbers) in numbers.iter().enumerate() {
            let row_scale = U::splat(*scales.get_unchecked(row + index));
            for (vector, &number) in numbers.iter().enumerate() {
                let column = column + vector * U::LANES;
                let place = (row + index) * layer.outputs + column;
                let scale = U::scale(row_scale, load(columns.as_ptr().add(column)));
                let number = U::scale(number, scale);
                let number = U::add(number, load(layer.bias.as_ptr().add(column)));
                match epilogue {
                    Epilogue::Hidden { residual, out } => {
                        let number = U::add(number, load(residual.as_ptr().add(place)));
                        store(U::larger(number, U::splat(0.0)), out.as_mut_ptr().add(place));
                    }
                    Epilogue::Sums { out } => store(number, out.as_mut_ptr().add(place)),
                }
            }
        }
    }
}

/// See [`Int8::sum_rows`].
///
/// # Safety
/// The processor has the unit, and `table.check(rows, out)` passed.
#[inline(always)]
pub(super) unsafe fn sum_rows<U: Unit>(table: &Rows16, rows: &[u32], out: &mut [f32]) {
    let vectors = table.width() / (2 * U::LANES);
    let mut vector = 0;
    // SAFETY: each call takes as many vectors as are left or fewer.
    unsafe {
        while vector + 8 <= vectors {
            add_up::<U, 8>(table, rows, vector * 2 * U::LANES, out);
            vector += 8;
        }
        while vector + 2 <= vectors {
            add_up::<U, 2>(table, rows, vector * 2 * U::LANES, out);
            vector += 2;
        }
        if vector < vectors {
            add_up::<U, 1>(table, rows, vector * 2 * U::LANES, out);
        }
    }
}

/// # Safety
/// As [`sum_rows`], and `column + 2 * V * LANES <= table.width()`.
#[inline(always)]
unsafe fn add_up<U: Unit, const V: usize>(table: &Rows16, rows: &[u32], column: usize, out: &mut [f32]) {
    // SAFETY: every row is in the table, and `column + 2 * V * LANES` is at most its width, the length of the bias, the
    // scales and the output.
    unsafe {
        let mut sums: [U::Integers; V] = zeroed();
        for &row in rows {
            let row = table.rows.as_ptr().add(row as usize * table.width() + column);
            for (vector, sum) in sums.iter_mut().enumerate() {
                *sum = U::add_words(*sum, load(row.add(vector * 2 * U::LANES)));
            }
        }
        for (vector, &sum) in sums.iter().enumerate() {
            for (half, number) in U::halves(sum).into_iter().enumerate() {
                let place = column + (2 * vector + half) * U::LANES;
                let number = U::scale(number, load(table.scales.as_ptr().add(place)));
                let number = U::add(number, load(table.bias.as_ptr().add(place)));
                store(U::larger(number, U::splat(0.0)), out.as_mut_ptr().add(place));
            }
        }
    }
}
