//! NEON with dot products: four products of bytes in one instruction; six rows by four vectors of 4.

use std::arch::aarch64::{
    float32x4_t, int32x4_t, vaddq_f32, vaddq_s16, vcombine_s16, vcvtnq_s32_f32, vcvtq_f32_s32, vdupq_n_f32,
    vdupq_n_s32, vget_lane_u32, vget_low_s16, vmaxq_f32, vmaxvq_f32, vmovl_high_s16, vmovl_s16, vmovn_s16, vmovn_s32,
    vmulq_f32, vreinterpret_u32_s8, vreinterpretq_s16_s32, vreinterpretq_s32_s16,
};
use std::arch::{asm, is_aarch64_feature_detected};

use super::simd::{self, Unit};
use super::{Dense8, Rows16};
use crate::net::kernel::Epilogue;

/// The kernel of NEON with dot products. Holding one proves that this processor has them.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Neon(());

impl Neon {
    /// The kernel, if this processor can run it.
    pub(in crate::net) fn detect() -> Option<Neon> {
        let has = is_aarch64_feature_detected!("neon") && is_aarch64_feature_detected!("dotprod");
        has.then_some(Neon(()))
    }
}

// SAFETY of every function: callers of [`Unit`] guarantee the instructions and the pointers.
impl Unit for Neon {
    type Floats = float32x4_t;
    type Integers = int32x4_t;
    type Weights = int32x4_t;
    type Sums = int32x4_t;
    const LANES: usize = 4;
    const VECTORS: usize = 4;

    #[target_feature(enable = "neon,dotprod")]
    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { simd::quantise::<Neon>(row, inputs) }
    }

    #[target_feature(enable = "neon,dotprod")]
    unsafe fn run_dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Neon>(layer, input, scales, 0, epilogue) }
    }

    #[target_feature(enable = "neon,dotprod")]
    unsafe fn run_sum_rows(table: &Rows16, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Neon>(table, rows, out) }
    }

    #[inline(always)]
    unsafe fn repeat(from: *const u8) -> int32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vdupq_n_s32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn multiply(mut sums: int32x4_t, inputs: int32x4_t, weights: int32x4_t) -> int32x4_t {
        // Inputs have seven bits, so they are the same as signed bytes. The library's function is not stable yet.
        // SAFETY: the caller's promise; the instruction touches registers alone.
        unsafe {
            asm!(
                "sdot {0:v}.4s, {1:v}.16b, {2:v}.16b",
                inout(vreg) sums,
                in(vreg) inputs,
                in(vreg) weights,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        sums
    }

    #[inline(always)]
    unsafe fn add_words(left: int32x4_t, right: int32x4_t) -> int32x4_t {
        // SAFETY: the caller's promise.
        unsafe {
            let [left, right] = [left, right].map(|words| vreinterpretq_s16_s32(words));
            vreinterpretq_s32_s16(vaddq_s16(left, right))
        }
    }

    #[inline(always)]
    unsafe fn floats(sums: int32x4_t) -> float32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vcvtq_f32_s32(sums) }
    }

    #[inline(always)]
    unsafe fn halves(words: int32x4_t) -> [float32x4_t; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let words = vreinterpretq_s16_s32(words);
            let (low, high) = (vmovl_s16(vget_low_s16(words)), vmovl_high_s16(words));
            [vcvtq_f32_s32(low), vcvtq_f32_s32(high)]
        }
    }

    #[inline(always)]
    unsafe fn splat(number: f32) -> float32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vdupq_n_f32(number) }
    }

    #[inline(always)]
    unsafe fn add(left: float32x4_t, right: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vaddq_f32(left, right) }
    }

    #[inline(always)]
    unsafe fn scale(left: float32x4_t, right: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vmulq_f32(left, right) }
    }

    #[inline(always)]
    unsafe fn larger(left: float32x4_t, right: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vmaxq_f32(left, right) }
    }

    #[inline(always)]
    unsafe fn largest(numbers: float32x4_t) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { vmaxvq_f32(numbers) }
    }

    #[inline(always)]
    unsafe fn store_bytes(numbers: float32x4_t, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            let words = vmovn_s32(vcvtnq_s32_f32(numbers));
            let bytes = vreinterpret_u32_s8(vmovn_s16(vcombine_s16(words, words)));
            to.cast::<u32>().write_unaligned(vget_lane_u32::<0>(bytes));
        }
    }
}
