//! Networks in small integers. In a product, weights have eight bits and a scale per output, and inputs have seven bits
//! and a scale per row. The first layer adds up 16-bit numbers with a scale per output.
//!
//! Integer sums are exact. The few operations on 32-bit floats have a fixed order and are never fused. All kernels of
//! this kind therefore give the same bits on every machine.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(in crate::net) mod amx;
#[cfg(target_arch = "x86_64")]
pub(in crate::net) mod avx2;
#[cfg(target_arch = "aarch64")]
pub(in crate::net) mod neon;
pub(in crate::net) mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
mod simd;
#[cfg(target_arch = "x86_64")]
pub(in crate::net) mod vnni;
#[cfg(target_feature = "simd128")]
pub(in crate::net) mod wasm;

use super::{Aligned, Dense, Epilogue, LANES};

/// The largest input of a product; inputs are not negative. The sum of two products with weights then fits into 16
/// bits, which AVX2 needs.
const LARGEST_INPUT: f32 = 127.0;

/// Weights of a product are from -127 to 127.
const LARGEST_WEIGHT: f32 = 127.0;

/// Below this a row counts as zero, because its scale would overflow.
const LEAST: f32 = 1e-30;

/// The computations on one kind of CPU.
pub(in crate::net) trait Int8: Copy + Send + Sync + 'static {
    /// Columns per panel of weights; the last panel may be narrower.
    const COLUMNS: usize;

    /// Adjacent inputs of a column in a panel.
    const DEPTH: usize;

    /// Rounds a row of numbers, none negative, to inputs of a product, and returns their scale. The row has a multiple
    /// of `2 * LANES` numbers.
    fn quantise(self, row: &[f32], inputs: &mut [u8]) -> f32;

    /// For every row of `input`, `[rows, inputs]`, with its scale: computes the product with the weights plus the bias,
    /// then applies the epilogue.
    fn dense(self, layer: &Dense8, input: &[u8], scales: &[f32], epilogue: Epilogue<'_>);

    /// The ReLU of the table's bias plus these rows of it: `[width]`.
    fn sum_rows(self, table: &Rows16, rows: &[u32], out: &mut [f32]);
}

/// The weights of a product and the scale of each output.
pub(in crate::net) struct Dense8 {
    pub(in crate::net) layer: Dense<i8>,
    scales: Aligned<f32>, // [outputs]
}

impl Dense8 {
    /// Rounds and packs a matrix `[inputs, outputs]` and its bias `[outputs]` for a kernel.
    pub(in crate::net) fn pack<K: Int8>(matrix: &[f32], bias: &[f32]) -> Dense8 {
        let outputs = bias.len();
        let mut scales = Aligned::new(outputs.next_multiple_of(LANES));
        for row in matrix.chunks_exact(outputs) {
            for (scale, weight) in scales.iter_mut().zip(row) {
                *scale = weight.abs().max(*scale);
            }
        }
        scales.iter_mut().for_each(|scale| *scale /= LARGEST_WEIGHT);
        let rounded: Vec<f32> = matrix
            .iter()
            .enumerate()
            .map(|(place, weight)| match scales[place % outputs] {
                scale if scale < LEAST => 0.0,
                scale => (weight / scale).round_ties_even().clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT),
            })
            .collect();
        let layer = Dense::pack(&rounded, bias, K::COLUMNS, K::DEPTH, |weight| weight as i8);
        Dense8 { layer, scales }
    }

    /// Checks every length that a kernel relies on.
    fn check(&self, input: &[u8], scales: &[f32], epilogue: &Epilogue<'_>) {
        self.layer.check(input.len(), epilogue);
        assert_eq!(self.scales.len(), self.layer.outputs);
        assert_eq!(scales.len() * self.layer.inputs, input.len(), "one scale per row");
    }
}

/// The rows of the first layer, `[row][width]`, and the scale of each column.
pub(in crate::net) struct Rows16 {
    rows: Aligned<i16>,
    scales: Aligned<f32>, // [width], a multiple of LANES
    bias: Aligned<f32>,   // [width]
}

impl Rows16 {
    /// Rounds a matrix `[rows, width]` and copies its bias `[width]`. No sum of different rows overflows 16 bits, for
    /// up to 2^15 rows.
    pub(in crate::net) fn pack(matrix: &[f32], bias: &[f32]) -> Rows16 {
        let width = bias.len();
        assert!(width.is_multiple_of(2 * LANES), "rows in whole vectors");
        assert!(matrix.len().is_multiple_of(width), "whole rows");
        let rows = matrix.len() / width;
        assert!(rows <= 1 << 15, "at most 2^15 rows");
        let room = (i16::MAX as usize - 1 - rows / 2) as f32; // rounding adds at most a half for each row
        let mut sums = vec![[0.0_f32; 2]; width]; // of what is positive and of what is negative
        for row in matrix.chunks_exact(width) {
            for (sums, weight) in sums.iter_mut().zip(row) {
                sums[usize::from(*weight < 0.0)] += weight.abs();
            }
        }
        let mut scales = Aligned::new(width);
        for (scale, [positive, negative]) in scales.iter_mut().zip(sums) {
            *scale = positive.max(negative) / room;
        }
        let mut rows = Aligned::new(matrix.len());
        for (place, (element, weight)) in rows.iter_mut().zip(matrix).enumerate() {
            let scale = scales[place % width];
            *element = if scale < LEAST { 0 } else { (weight / scale).round_ties_even() as i16 };
        }
        Rows16 { rows, scales, bias: bias.into() }
    }

    fn width(&self) -> usize {
        self.bias.len()
    }

    /// Checks every length that a kernel relies on.
    fn check(&self, rows: &[u32], out: &[f32]) {
        let width = self.width();
        assert!(width.is_multiple_of(2 * LANES));
        assert_eq!(self.scales.len(), width);
        assert_eq!(out.len(), width, "one output for every column");
        for &row in rows {
            let end = (row as usize + 1) * width;
            assert!(end <= self.rows.len(), "rows must be in the table");
        }
    }
}

/// Whether this CPU has fast instructions for products of bytes.
pub(super) fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return avx2::Avx2Int8::<false>::detect().is_some();
    #[cfg(target_arch = "aarch64")]
    return neon::Neon::detect().is_some();
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    cfg!(target_feature = "simd128")
}

/// Added to a small number, this leaves its nearest integer in the lowest bits, ties to even: a float of this size has
/// no fraction bits.
const ROUND: f32 = (1 << 23) as f32;

/// See [`Int8::quantise`]. Each loop handles a power of two of numbers at a time, so that the compiler vectorizes it.
#[inline(always)]
fn quantise<const AT_A_TIME: usize>(row: &[f32], inputs: &mut [u8]) -> f32 {
    let (vectors, rest) = row.as_chunks::<AT_A_TIME>();
    assert!(rest.is_empty() && row.len() == inputs.len(), "rows in whole vectors, with an input for every number");
    let mut most = [0.0; AT_A_TIME];
    for numbers in vectors {
        for (most, &number) in most.iter_mut().zip(numbers) {
            *most = larger(number, *most);
        }
    }
    let mut left = AT_A_TIME;
    while left > 1 {
        left /= 2;
        for lane in 0..left {
            most[lane] = larger(most[lane], most[lane + left]);
        }
    }
    let most = most[0];
    let (scale, inverse) = if most < LEAST { (0.0, 0.0) } else { (most / LARGEST_INPUT, LARGEST_INPUT / most) };
    for (inputs, numbers) in inputs.as_chunks_mut::<AT_A_TIME>().0.iter_mut().zip(vectors) {
        for (input, number) in inputs.iter_mut().zip(numbers) {
            *input = (number * inverse + ROUND).to_bits() as u8;
        }
    }
    scale
}

/// The outputs of a product in one row: its sums in their scale, plus the bias.
#[inline(always)]
fn outputs<const N: usize>(sums: [i32; N], row_scale: f32, scales: &[f32; N], bias: &[f32; N]) -> [f32; N] {
    let mut out = [0.0; N];
    for (((out, sum), scale), bias) in out.iter_mut().zip(sums).zip(scales).zip(bias) {
        *out = sum as f32 * (row_scale * scale) + bias;
    }
    out
}

/// The outputs of a hidden layer: those of its product plus the residual, with ReLU.
#[inline(always)]
fn hidden<const N: usize>(mut outputs: [f32; N], residual: &[f32; N]) -> [f32; N] {
    for (output, residual) in outputs.iter_mut().zip(residual) {
        *output = relu(*output + residual);
    }
    outputs
}

/// The outputs of the first layer: sums in their scale, plus the bias, with ReLU.
#[inline(always)]
fn first_outputs<const N: usize>(sums: [i16; N], scales: &[f32; N], bias: &[f32; N]) -> [f32; N] {
    let mut out = [0.0; N];
    for (((out, sum), scale), bias) in out.iter_mut().zip(sums).zip(scales).zip(bias) {
        *out = relu(f32::from(sum) * scale + bias);
    }
    out
}

#[inline(always)]
fn relu(number: f32) -> f32 {
    larger(number, 0.0)
}

/// The larger of two numbers, or `right` if one is NaN. Unlike `f32::max`, this is a single instruction.
#[inline(always)]
fn larger(left: f32, right: f32) -> f32 {
    if left > right { left } else { right }
}
