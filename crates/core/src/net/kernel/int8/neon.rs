//! NEON with dot products: one instruction computes four products of bytes in each lane. A tile is six rows by four
//! vectors of 4 lanes.

use std::arch::aarch64::{int32x4_t, vaddq_s16, vdupq_n_s32, vreinterpretq_s16_s32, vreinterpretq_s32_s16};
use std::arch::{asm, is_aarch64_feature_detected};

use super::simd::{self, Unit};
use super::{Dense8, Rows16, quantise};
use crate::net::kernel::Epilogue;

/// The kernel for NEON with dot products. A value of this type exists only if the CPU has the instructions.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Neon(());

impl Neon {
    /// The kernel, if this CPU can run it.
    pub(in crate::net) fn detect() -> Option<Neon> {
        let has = is_aarch64_feature_detected!("neon") && is_aarch64_feature_detected!("dotprod");
        has.then_some(Neon(()))
    }
}

// SAFETY: registers have four lanes. Callers of each function guarantee the instructions and the pointers.
unsafe impl Unit for Neon {
    type Integers = int32x4_t;
    type Weights = int32x4_t;
    type Sums = int32x4_t;
    const LANES: usize = 4;
    const VECTORS: usize = 4;

    #[target_feature(enable = "neon,dotprod")]
    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32 {
        quantise::<16>(row, inputs)
    }

    #[target_feature(enable = "neon,dotprod")]
    unsafe fn run_dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Neon, 4>(layer, input, scales, 0, epilogue) }
    }

    #[target_feature(enable = "neon,dotprod")]
    unsafe fn run_sum_rows(table: &Rows16, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Neon, 4>(table, rows, out) }
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
}
