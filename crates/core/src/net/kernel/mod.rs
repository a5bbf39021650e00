//! The two computations of a frozen network: sums of table rows (the first layer) and dense products with bias, residual
//! and ReLU. [`floats`] computes them in 32-bit floats, [`int8`] in small integers.
//!
//! The library has `unsafe` code in two places: in `int8`, and where files are mapped. A kernel for special
//! instructions, such as [`int8::vnni::Vnni`], can only be created by its `detect`, which checks that the CPU has them.
//! Safe wrappers check every length before they create a pointer. Tests compare every such kernel with a portable one
//! in safe code.

pub(super) mod floats;
pub(super) mod int8;
mod kind;
mod memory;

pub use kind::KernelKind;
pub(super) use memory::Aligned;

/// The outputs of a product are padded to a multiple of this.
pub(super) const LANES: usize = 16;

/// The weights of a product in the order that a kernel reads them:
/// `[panel][input / depth][column][depth]`.
pub(super) struct Dense<E> {
    weights: Aligned<E>,
    bias: Aligned<f32>, // [outputs]
    inputs: usize,
    pub(super) outputs: usize, // of a row, padding included: a multiple of LANES
}

/// The last step of a product (its epilogue).
pub(super) enum Epilogue<'a> {
    /// A hidden layer: add the residual and apply ReLU, `[rows, outputs]`.
    Hidden { residual: &'a [f32], out: &'a mut [f32] },
    /// Store the sums, `[rows, outputs]`.
    Sums { out: &'a mut [f32] },
}

impl<E: Copy + Default> Dense<E> {
    /// Packs a matrix `[inputs, outputs]` and its bias `[outputs]` in panels of this many columns, of which `depth`
    /// inputs are adjacent.
    pub(super) fn pack(
        matrix: &[f32],
        bias: &[f32],
        columns: usize,
        depth: usize,
        element: impl Fn(f32) -> E,
    ) -> Dense<E> {
        let (inputs, outputs) = (matrix.len() / bias.len(), bias.len());
        assert_eq!(matrix.len(), inputs * outputs, "whole rows");
        assert!(inputs > 0 && inputs.is_multiple_of(depth), "whole groups");
        let padded = outputs.next_multiple_of(LANES);
        let mut weights = Aligned::new(inputs * padded);
        let mut place = 0;
        for panel in (0..padded).step_by(columns) {
            let columns = columns.min(padded - panel);
            for group in (0..inputs).step_by(depth) {
                for column in panel..panel + columns {
                    for input in group..group + depth {
                        if column < outputs {
                            weights[place] = element(matrix[input * outputs + column]);
                        }
                        place += 1;
                    }
                }
            }
        }
        let mut padded_bias = Aligned::new(padded);
        padded_bias[..outputs].copy_from_slice(bias);
        Dense { weights, bias: padded_bias, inputs, outputs: padded }
    }

    /// Checks every length that a kernel relies on.
    ///
    /// # Panics
    /// Panics unless the inputs are whole rows, and the outputs and residuals are `[rows, outputs]`.
    fn check(&self, inputs: usize, epilogue: &Epilogue<'_>) {
        assert_eq!(self.weights.len(), self.inputs * self.outputs);
        assert_eq!(self.bias.len(), self.outputs);
        assert!(self.outputs.is_multiple_of(LANES));
        assert!(inputs.is_multiple_of(self.inputs), "whole rows");
        let numbers = inputs / self.inputs * self.outputs;
        match epilogue {
            Epilogue::Hidden { residual, out } => {
                assert_eq!(out.len(), numbers, "one output per row and column");
                assert_eq!(residual.len(), numbers, "one residual per output");
            }
            Epilogue::Sums { out } => assert_eq!(out.len(), numbers, "one sum per row and column"),
        }
    }
}

#[cfg(test)]
mod tests;
