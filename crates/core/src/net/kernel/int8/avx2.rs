//! AVX2: three instructions, or one with AVX-VNNI, compute four products of bytes in each lane. A tile is six rows by
//! two vectors of 8 lanes.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi16, _mm256_add_epi32, _mm256_dpbusd_avx_epi32, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_set1_epi16, _mm256_set1_epi32,
};

use super::simd::{self, Unit};
use super::{Dense8, Rows16, quantise};
use crate::net::kernel::Epilogue;

/// The kernel for AVX2, with AVX-VNNI or without. A value of this type exists only if the CPU has the instructions.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Avx2Int8<const VNNI: bool>(());

impl<const VNNI: bool> Avx2Int8<VNNI> {
    /// The kernel, if this CPU can run it.
    pub(in crate::net) fn detect() -> Option<Avx2Int8<VNNI>> {
        let has = is_x86_feature_detected!("avx2") && (!VNNI || is_x86_feature_detected!("avxvnni"));
        has.then_some(Avx2Int8(()))
    }
}

/// # Safety
/// As [`Unit::run_dense`].
#[target_feature(enable = "avx2,avxvnni")]
unsafe fn dense_vnni(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
    // SAFETY: the caller's promise.
    unsafe { simd::dense::<Avx2Int8<true>, 8>(layer, input, scales, 0, epilogue) }
}

/// # Safety
/// As [`Unit::run_dense`].
#[target_feature(enable = "avx2")]
unsafe fn dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
    // SAFETY: the caller's promise.
    unsafe { simd::dense::<Avx2Int8<false>, 8>(layer, input, scales, 0, epilogue) }
}

// SAFETY: registers have eight lanes. Callers of each function guarantee the instructions and the pointers.
unsafe impl<const VNNI: bool> Unit for Avx2Int8<VNNI> {
    type Integers = __m256i;
    type Weights = __m256i;
    type Sums = __m256i;
    const LANES: usize = 8;
    const VECTORS: usize = 2;

    #[target_feature(enable = "avx2")]
    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32 {
        quantise::<8>(row, inputs)
    }

    unsafe fn run_dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe {
            match VNNI {
                true => dense_vnni(layer, input, scales, epilogue),
                false => dense(layer, input, scales, epilogue),
            }
        }
    }

    #[target_feature(enable = "avx2")]
    unsafe fn run_sum_rows(table: &Rows16, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Avx2Int8<VNNI>, 8>(table, rows, out) }
    }

    #[inline(always)]
    unsafe fn repeat(from: *const u8) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_set1_epi32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn multiply(sums: __m256i, inputs: __m256i, weights: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            if VNNI {
                return _mm256_dpbusd_avx_epi32(sums, inputs, weights);
            }
            let pairs = _mm256_maddubs_epi16(inputs, weights); // no pair leaves 16 bits
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }

    #[inline(always)]
    unsafe fn add_words(left: __m256i, right: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_epi16(left, right) }
    }
}
