//! The two computations of a frozen network, for every kind of processor: sums of table rows (the first
//! layer) and dense products with bias, residual and ReLU.
//!
//! The library has `unsafe` code in two places: here, and where files are mapped. A kernel such as
//! [`avx2::Avx2`] comes only from its `detect`, so holding one proves that its instructions exist. Safe
//! wrappers check every length before a pointer is made. The portable kernel is safe code; tests
//! compare every other kernel with it.

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

/// The outputs of a product are padded to a multiple of this.
pub(super) const LANES: usize = 16;

/// The computations on one kind of processor.
///
/// Every row of a batch is computed on its own with the same order of additions, so a row gives the
/// same bits in every batch.
pub(super) trait Kernel: Copy + Send + Sync + 'static {
    /// The type of weights and activations.
    type Element: Copy + Default + Send + Sync + 'static;

    /// Columns per panel of weights; the last panel may be narrower.
    const COLUMNS: usize;

    /// Adjacent inputs of a column in a panel.
    const DEPTH: usize;

    /// Rounds a number to an element.
    fn element(number: f32) -> Self::Element;

    /// For every row of `input`, `[rows, inputs]`: its product with the weights, plus the bias, finished.
    fn dense(
        self,
        layer: &Dense<Self::Element>,
        input: &[Self::Element],
        epilogue: Epilogue<'_, Self::Element>,
    );

    /// The ReLU of the table's bias plus these rows of it: `[width]`.
    fn sum_rows(self, table: &PackedRows<Self::Element>, rows: &[u32], out: &mut [Self::Element]);
}

/// The weights of a product in the order that a kernel reads them:
/// `[panel][input / DEPTH][column][DEPTH]`.
pub(super) struct Dense<E> {
    weights: Aligned<E>,
    bias: Aligned<f32>, // [outputs]
    inputs: usize,
    outputs: usize, // a multiple of LANES
}

/// The rows of the first layer: `[row][width]`.
pub(super) struct PackedRows<E> {
    rows: Aligned<E>,
    bias: Aligned<f32>, // [width], a multiple of LANES
}

/// What to do with the sums of a product.
pub(super) enum Epilogue<'a, E> {
    /// A hidden layer: add the residual, apply ReLU, round to elements `[rows, outputs]`.
    Hidden { residual: &'a [E], out: &'a mut [E] },
    /// The sums as they are, `[rows, outputs]`.
    Sums { out: &'a mut [f32] },
}

impl<E: Copy + Default> Dense<E> {
    /// Packs a matrix `[inputs, outputs]` and its bias `[outputs]` for a kernel.
    pub(super) fn pack<K: Kernel<Element = E>>(matrix: &[f32], bias: &[f32]) -> Dense<E> {
        let (inputs, outputs) = (matrix.len() / bias.len(), bias.len());
        assert_eq!(matrix.len(), inputs * outputs, "whole rows");
        assert!(
            inputs > 0 && inputs.is_multiple_of(K::DEPTH),
            "whole groups"
        );
        let padded = outputs.next_multiple_of(LANES);
        let mut weights = Aligned::new(inputs * padded);
        let mut place = 0;
        for panel in (0..padded).step_by(K::COLUMNS) {
            let columns = K::COLUMNS.min(padded - panel);
            for group in (0..inputs).step_by(K::DEPTH) {
                for column in panel..panel + columns {
                    for input in group..group + K::DEPTH {
                        if column < outputs {
                            weights[place] = K::element(matrix[input * outputs + column]);
                        }
                        place += 1;
                    }
                }
            }
        }
        let mut padded_bias = Aligned::new(padded);
        padded_bias[..outputs].copy_from_slice(bias);
        Dense {
            weights,
            bias: padded_bias,
            inputs,
            outputs: padded,
        }
    }

    /// Outputs of a row, padding included.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Checks every length that a kernel relies on.
    ///
    /// # Panics
    /// Panics unless `input` is whole rows, and the outputs and residuals are `[rows, outputs]`.
    fn check(&self, input: &[E], epilogue: &Epilogue<'_, E>) {
        assert_eq!(self.weights.len(), self.inputs * self.outputs);
        assert_eq!(self.bias.len(), self.outputs);
        assert!(self.outputs.is_multiple_of(LANES));
        assert!(input.len().is_multiple_of(self.inputs), "whole rows");
        let numbers = input.len() / self.inputs * self.outputs;
        match epilogue {
            Epilogue::Hidden { residual, out } => {
                assert_eq!(out.len(), numbers, "one output per row and column");
                assert_eq!(residual.len(), numbers, "one residual per output");
            }
            Epilogue::Sums { out } => assert_eq!(out.len(), numbers, "one sum per row and column"),
        }
    }
}

impl<E: Copy + Default> PackedRows<E> {
    /// Packs a matrix `[rows, width]` and its bias `[width]` for a kernel.
    pub(super) fn pack<K: Kernel<Element = E>>(matrix: &[f32], bias: &[f32]) -> PackedRows<E> {
        assert!(bias.len().is_multiple_of(LANES), "rows in whole vectors");
        assert!(matrix.len().is_multiple_of(bias.len()), "whole rows");
        let mut rows = Aligned::new(matrix.len());
        for (element, &number) in rows.iter_mut().zip(matrix) {
            *element = K::element(number);
        }
        let mut aligned_bias = Aligned::new(bias.len());
        aligned_bias.copy_from_slice(bias);
        PackedRows {
            rows,
            bias: aligned_bias,
        }
    }

    /// Columns of a row.
    fn width(&self) -> usize {
        self.bias.len()
    }

    /// Checks every length that a kernel relies on.
    ///
    /// # Panics
    /// Panics unless all rows are in the table and `out` is `[width]`.
    fn check(&self, rows: &[u32], out: &[E]) {
        let width = self.width();
        assert!(width.is_multiple_of(LANES));
        assert_eq!(out.len(), width, "one output for every column");
        for &row in rows {
            let end = (row as usize + 1) * width;
            assert!(end <= self.rows.len(), "rows must be in the table");
        }
    }
}

#[cfg(test)]
mod tests;
