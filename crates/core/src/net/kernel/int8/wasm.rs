//! SIMD128 of WebAssembly: one instruction computes eight products of 16-bit numbers. A tile is six rows by two vectors
//! of 4 lanes.
//!
//! Relaxed SIMD could multiply bytes, but browsers without it would need another module.

use std::arch::wasm32::{
    i16x8_add, i16x8_extend_low_u8x16, i16x8_load_extend_i8x8, i32x4_add, i32x4_dot_i16x8, i32x4_shuffle, v128,
    v128_load32_splat,
};

use super::simd::{self, Unit};
use super::{Dense8, Rows16, quantise};
use crate::net::kernel::Epilogue;

/// The kernel of SIMD128.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Simd128(());

impl Simd128 {
    /// The kernel: this module is only in programs that need the instructions in all their parts.
    pub(in crate::net) fn detect() -> Option<Simd128> {
        Some(Simd128(()))
    }
}

// SAFETY: registers have four lanes. Callers of each function guarantee the pointers; the program has the instructions.
unsafe impl Unit for Simd128 {
    type Integers = v128;
    type Weights = [v128; 2]; // of 16 bits: those of the first two columns and those of the others
    type Sums = [v128; 2]; // the same columns, two sums for each
    const LANES: usize = 4;
    const VECTORS: usize = 2;

    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32 {
        quantise::<16>(row, inputs)
    }

    unsafe fn run_dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Simd128, 4>(layer, input, scales, 0, epilogue) }
    }

    unsafe fn run_sum_rows(table: &Rows16, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Simd128, 4>(table, rows, out) }
    }

    #[inline(always)]
    unsafe fn weights(from: *const i8) -> [v128; 2] {
        // SAFETY: the caller's promise.
        unsafe { [i16x8_load_extend_i8x8(from), i16x8_load_extend_i8x8(from.add(8))] }
    }

    #[inline(always)]
    unsafe fn repeat(from: *const u8) -> v128 {
        // SAFETY: the caller's promise.
        unsafe { i16x8_extend_low_u8x16(v128_load32_splat(from.cast())) }
    }

    #[inline(always)]
    unsafe fn multiply(sums: [v128; 2], inputs: v128, weights: [v128; 2]) -> [v128; 2] {
        let [first, second] = weights.map(|weights| i32x4_dot_i16x8(inputs, weights));
        [i32x4_add(sums[0], first), i32x4_add(sums[1], second)]
    }

    #[inline(always)]
    unsafe fn add_words(left: v128, right: v128) -> v128 {
        i16x8_add(left, right)
    }

    #[inline(always)]
    unsafe fn totals([first, second]: [v128; 2]) -> v128 {
        let even = i32x4_shuffle::<0, 2, 4, 6>(first, second);
        let odd = i32x4_shuffle::<1, 3, 5, 7>(first, second);
        i32x4_add(even, odd)
    }
}
