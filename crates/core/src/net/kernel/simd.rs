//! The loops of the kernels, written once for all vector units: tiles of six rows by a few vectors,
//! whose sums stay in registers.
//!
//! Everything here is inlined into the entry points of [`avx2`](super::avx2),
//! [`avx512`](super::avx512) and [`bf16`](super::bf16), which enable the instructions.

use super::{Dense, Epilogue, Kernel, PackedRows};

/// A vector unit. Holding a value of such a type proves that this processor has the unit.
///
/// # Safety
/// Every function needs a processor with the unit. Pointers are to `LANES` numbers, or to
/// `LANES * DEPTH` elements for `weights` and `DEPTH` elements for `splat`; they need no alignment.
pub(in crate::net) trait Simd: Copy + Send + Sync + 'static {
    /// The type of weights and activations.
    type Element: Copy + Default + Send + Sync + 'static;
    /// A register of `LANES` sums.
    type Sums: Copy;
    /// A register of `LANES * DEPTH` elements.
    type Group: Copy;
    /// Sums per register.
    const LANES: usize;
    /// Inputs per multiplication.
    const DEPTH: usize;
    /// Vectors of a full panel: at most four, so that six rows of sums fit into the registers.
    const VECTORS: usize;

    /// Rounds a number to an element.
    fn element(number: f32) -> Self::Element;
    /// [`dense`], compiled with the unit's instructions. `layer.check(input, epilogue)` passed.
    unsafe fn run_dense(
        layer: &Dense<Self::Element>,
        input: &[Self::Element],
        epilogue: &mut Epilogue<'_, Self::Element>,
    );
    /// [`sum_rows`], compiled with the unit's instructions. `table.check(rows, out)` passed.
    unsafe fn run_sum_rows(
        table: &PackedRows<Self::Element>,
        rows: &[u32],
        out: &mut [Self::Element],
    );
    /// A register of zeros.
    unsafe fn zero() -> Self::Sums;
    /// Loads the weights of `LANES` columns and `DEPTH` inputs.
    unsafe fn weights(from: *const Self::Element) -> Self::Group;
    /// Loads `DEPTH` inputs and repeats them for every column.
    unsafe fn splat(from: *const Self::Element) -> Self::Group;
    /// Adds to `sums` the products of the inputs and weights of each column.
    unsafe fn multiply(sums: Self::Sums, inputs: Self::Group, weights: Self::Group) -> Self::Sums;
    /// Loads elements and converts them to 32-bit numbers.
    unsafe fn widen(from: *const Self::Element) -> Self::Sums;
    /// Loads 32-bit numbers.
    unsafe fn load(from: *const f32) -> Self::Sums;
    /// Adds lane by lane.
    unsafe fn add(left: Self::Sums, right: Self::Sums) -> Self::Sums;
    /// Replaces negative sums with zero.
    unsafe fn relu(sums: Self::Sums) -> Self::Sums;
    /// Rounds to elements and stores them.
    unsafe fn narrow(sums: Self::Sums, to: *mut Self::Element);
    /// Stores the sums.
    unsafe fn store(sums: Self::Sums, to: *mut f32);
}

impl<S: Simd> Kernel for S {
    type Element = S::Element;
    const COLUMNS: usize = S::VECTORS * S::LANES;
    const DEPTH: usize = <S as Simd>::DEPTH;

    fn element(number: f32) -> S::Element {
        <S as Simd>::element(number)
    }

    fn dense(
        self,
        layer: &Dense<S::Element>,
        input: &[S::Element],
        mut epilogue: Epilogue<'_, S::Element>,
    ) {
        layer.check(input, &epilogue);
        // SAFETY: holding `self` proves the unit; `check` proves every length.
        unsafe { S::run_dense(layer, input, &mut epilogue) }
    }

    fn sum_rows(self, table: &PackedRows<S::Element>, rows: &[u32], out: &mut [S::Element]) {
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
pub(super) unsafe fn dense<S: Simd>(
    layer: &Dense<S::Element>,
    input: &[S::Element],
    epilogue: &mut Epilogue<'_, S::Element>,
) {
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
    layer: &Dense<S::Element>,
    input: &[S::Element],
    column: usize,
    epilogue: &mut Epilogue<'_, S::Element>,
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
    layer: &Dense<S::Element>,
    input: &[S::Element],
    row: usize,
    column: usize,
    epilogue: &mut Epilogue<'_, S::Element>,
) {
    let inputs = layer.inputs;
    // SAFETY: panels before this one hold `inputs * column` weights, this one `inputs * V * LANES` in
    // groups of `V * LANES * DEPTH`; rows of inputs come in whole groups. Outputs and residuals are
    // `[rows, outputs]`, the bias is `[outputs]`.
    unsafe {
        let mut sums = [[S::zero(); V]; R];
        let panel = layer.weights.as_ptr().add(inputs * column);
        let input = input.as_ptr().add(row * inputs);
        for group in 0..inputs / <S as Simd>::DEPTH {
            let size = S::LANES * <S as Simd>::DEPTH;
            let mut weights = [S::weights(panel.add(group * V * size)); V];
            for (vector, weights) in weights.iter_mut().enumerate().skip(1) {
                *weights = S::weights(panel.add((group * V + vector) * size));
            }
            for (index, sums) in sums.iter_mut().enumerate() {
                let number = S::splat(input.add(index * inputs + group * <S as Simd>::DEPTH));
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
                        let sum = S::add(sum, S::widen(residual.as_ptr().add(place)));
                        S::narrow(S::relu(sum), out.as_mut_ptr().add(place));
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
pub(super) unsafe fn sum_rows<S: Simd>(
    table: &PackedRows<S::Element>,
    rows: &[u32],
    out: &mut [S::Element],
) {
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
unsafe fn add_up<S: Simd, const V: usize>(
    table: &PackedRows<S::Element>,
    rows: &[u32],
    column: usize,
    out: &mut [S::Element],
) {
    // SAFETY: every row is in the table, and `column + V * LANES` is at most its width, the length of
    // the bias and of the output.
    unsafe {
        let mut sums = [S::zero(); V];
        for &row in rows {
            let first = row as usize * table.width() + column;
            let row = table.rows.as_ptr().add(first);
            for (vector, sum) in sums.iter_mut().enumerate() {
                *sum = S::add(*sum, S::widen(row.add(vector * S::LANES)));
            }
        }
        for (vector, &sum) in sums.iter().enumerate() {
            let place = column + vector * S::LANES;
            let sum = S::add(sum, S::load(table.bias.as_ptr().add(place)));
            S::narrow(S::relu(sum), out.as_mut_ptr().add(place));
        }
    }
}
