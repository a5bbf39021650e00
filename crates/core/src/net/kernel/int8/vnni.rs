//! AVX-512 with VNNI: one instruction computes four products of bytes in each lane. A tile is six rows by four vectors
//! of 16 lanes.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{__m512i, _mm512_add_epi16, _mm512_dpbusd_epi32, _mm512_set1_epi32};

use super::simd::{self, Unit};
use super::{Dense8, Rows16, quantise};
use crate::net::kernel::Epilogue;

/// The kernel for AVX-512 with VNNI. A value of this type exists only if the CPU has both.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Vnni(());

impl Vnni {
    /// The kernel, if this CPU can run it.
    pub(in crate::net) fn detect() -> Option<Vnni> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni");
        has.then_some(Vnni(()))
    }
}

// SAFETY: registers have 16 lanes. Callers of each function guarantee the instructions and the pointers.
unsafe impl Unit for Vnni {
    type Integers = __m512i;
    type Weights = __m512i;
    type Sums = __m512i;
    const LANES: usize = 16;
    const VECTORS: usize = 4;

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32 {
        quantise::<32>(row, inputs)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn run_dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Vnni, 16>(layer, input, scales, 0, epilogue) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn run_sum_rows(table: &Rows16, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Vnni, 16>(table, rows, out) }
    }

    #[inline(always)]
    unsafe fn repeat(from: *const u8) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_epi32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn multiply(sums: __m512i, inputs: __m512i, weights: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_dpbusd_epi32(sums, inputs, weights) }
    }

    #[inline(always)]
    unsafe fn add_words(left: __m512i, right: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi16(left, right) }
    }
}
