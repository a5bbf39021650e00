//! The two computations that a frozen network consists of, for every kind of processor: sums of
//! table rows (the first layer) and dense products with their bias, residual and ReLU.
//!
//! One of the two places of the library with `unsafe`; the other maps files. The processor's
//! abilities are values: a kernel such as [`avx2::Avx2`] can only be had from its `detect`, so whoever
//! holds one may call it. Safe
//! wrappers check every length before a pointer is made; the portable kernel is safe code and the
//! twin that tests hold every other one against.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(target_arch = "x86_64")]
pub(super) mod bf16;
mod kind;
mod memory;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
mod simd;

pub use kind::KernelKind;
pub(super) use memory::Aligned;

/// Outputs of a product are padded to a multiple of this.
pub(super) const LANES: usize = 16;

/// A way to compute on one kind of processor.
///
/// Every row of a batch is computed for itself and in the same order of additions, whatever rows
/// are beside it: the same row gives the same bits in every batch.
pub(super) trait Kernel: Copy + Send + Sync + 'static {
    /// What weights and activations are stored as.
    type Element: Copy + Default + Send + Sync + 'static;

    /// Columns of a panel of weights; the last panel may be narrower.
    const COLUMNS: usize;

    /// How many inputs of a column lie side by side in a panel.
    const DEPTH: usize;

    /// Rounds a number to an element.
    fn element(number: f32) -> Self::Element;

    /// For every row of the batch: the sum of products of the terms, plus bias, finished.
    fn dense(
        self,
        layer: &Dense<Self::Element>,
        batch: Batch<'_, Self::Element>,
        finish: Finish<'_, Self::Element>,
    );

    /// `start` plus those rows of the table, finished.
    fn sum_rows(
        self,
        table: &Table<Self::Element>,
        start: &[f32],
        rows: &[u32],
        finish: Finish<'_, Self::Element>,
    );
}

/// The weights of a product in the order in which a kernel reads them:
/// `[panel][tap][input / DEPTH][column][DEPTH]`.
pub(super) struct Dense<E> {
    weights: Aligned<E>,
    bias: Aligned<f32>, // [outputs]
    taps: usize,
    inputs: usize,
    outputs: usize, // a multiple of LANES
}

/// Rows that can be added up: `[row][width]`.
pub(super) struct Table<E> {
    rows: Aligned<E>,
    width: usize, // a multiple of LANES
}

/// One part of a product: which matrix, and where the first row of its input starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) tap: usize,
    pub(super) input: usize,
}

/// What a product is computed for: `rows` rows, each one `inputs` after the one before.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a, E> {
    pub(super) rows: usize,
    pub(super) input: &'a [E],
    pub(super) terms: &'a [Term],
}

/// What happens to a finished sum.
pub(super) enum Finish<'a, E> {
    /// A hidden layer: add the residual, cut off below zero, round to elements `[rows, outputs]`.
    Hidden {
        residual: Option<&'a [E]>,
        out: &'a mut [E],
    },
    /// The sums as they are, `[rows, outputs]`.
    Sums { out: &'a mut [f32] },
}

impl<E: Copy + Default> Dense<E> {
    /// Packs `taps` matrices, `weight(tap, input, output)`, for a kernel.
    pub(super) fn pack<K: Kernel<Element = E>>(
        (taps, inputs, outputs): (usize, usize, usize),
        weight: impl Fn(usize, usize, usize) -> f32,
        bias: &[f32],
    ) -> Dense<E> {
        assert_eq!(bias.len(), outputs, "one bias per output");
        assert!(inputs.is_multiple_of(K::DEPTH), "inputs in whole groups");
        let padded = outputs.next_multiple_of(LANES);
        let mut weights = Aligned::new(taps * inputs * padded);
        let mut place = 0;
        for panel in (0..padded).step_by(K::COLUMNS) {
            let columns = K::COLUMNS.min(padded - panel);
            for tap in 0..taps {
                for group in (0..inputs).step_by(K::DEPTH) {
                    for column in panel..panel + columns {
                        for input in group..group + K::DEPTH {
                            if column < outputs {
                                weights[place] = K::element(weight(tap, input, column));
                            }
                            place += 1;
                        }
                    }
                }
            }
        }
        let mut padded_bias = Aligned::new(padded);
        padded_bias[..outputs].copy_from_slice(bias);
        Dense {
            weights,
            bias: padded_bias,
            taps,
            inputs,
            outputs: padded,
        }
    }

    /// Numbers of a finished row.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Checks every length that a kernel relies on.
    ///
    /// # Panics
    /// Panics unless all inputs of all terms lie in `batch.input`, and the outputs and residuals
    /// are `[rows, outputs]`.
    fn check(&self, batch: &Batch<'_, E>, finish: &Finish<'_, E>) {
        assert_eq!(self.weights.len(), self.taps * self.inputs * self.outputs);
        assert_eq!(self.bias.len(), self.outputs);
        assert!(self.outputs.is_multiple_of(LANES));
        for term in batch.terms {
            assert!(term.tap < self.taps, "a matrix that is there");
            let end = term.input + batch.rows * self.inputs;
            assert!(end <= batch.input.len(), "input of every row");
        }
        finish.check(batch.rows * self.outputs);
    }
}

impl<E: Copy + Default> Table<E> {
    /// A table of `rows` rows, `number(row, column)`.
    pub(super) fn pack<K: Kernel<Element = E>>(
        (rows, width): (usize, usize),
        number: impl Fn(usize, usize) -> f32,
    ) -> Table<E> {
        assert!(width.is_multiple_of(LANES), "rows in whole vectors");
        let mut packed = Aligned::new(rows * width);
        for row in 0..rows {
            for column in 0..width {
                packed[row * width + column] = K::element(number(row, column));
            }
        }
        Table {
            rows: packed,
            width,
        }
    }

    /// Checks every length that a kernel relies on.
    ///
    /// # Panics
    /// Panics unless all rows are in the table and everything else is `[width]`.
    fn check(&self, start: &[f32], rows: &[u32], finish: &Finish<'_, E>) {
        assert!(self.width.is_multiple_of(LANES));
        assert_eq!(start.len(), self.width, "a start for every column");
        for &row in rows {
            let end = (row as usize + 1) * self.width;
            assert!(end <= self.rows.len(), "a row that is there");
        }
        finish.check(self.width);
    }
}

impl<E> Finish<'_, E> {
    fn check(&self, numbers: usize) {
        match self {
            Finish::Hidden { residual, out } => {
                assert_eq!(out.len(), numbers, "one output per row and column");
                if let Some(residual) = residual {
                    assert_eq!(residual.len(), numbers, "one residual per output");
                }
            }
            Finish::Sums { out } => assert_eq!(out.len(), numbers, "one sum per row and column"),
        }
    }
}

#[cfg(test)]
mod tests;
