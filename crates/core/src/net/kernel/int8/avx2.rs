//! AVX2: four products of bytes in three instructions, or in one with AVX-VNNI; six rows by two vectors of 8.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_cvtss_f32, _mm_max_ps, _mm_max_ss, _mm_movehdup_ps, _mm_movehl_ps, _mm_packs_epi32,
    _mm_packus_epi16, _mm_storel_epi64, _mm256_add_epi16, _mm256_add_epi32, _mm256_add_ps, _mm256_castps256_ps128,
    _mm256_castsi256_si128, _mm256_cvtepi16_epi32, _mm256_cvtepi32_ps, _mm256_cvtps_epi32, _mm256_dpbusd_avx_epi32,
    _mm256_extractf128_ps, _mm256_extracti128_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_max_ps,
    _mm256_mul_ps, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps,
};

use super::simd::{self, Unit};
use super::{Dense8, Rows16};
use crate::net::kernel::Epilogue;

/// The kernel of AVX2, with AVX-VNNI or without. Holding one proves that this processor has it.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Avx2Int8<const VNNI: bool>(());

impl<const VNNI: bool> Avx2Int8<VNNI> {
    /// The kernel, if this processor can run it.
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
    unsafe { simd::dense::<Avx2Int8<true>>(layer, input, scales, 0, epilogue) }
}

/// # Safety
/// As [`Unit::run_dense`].
#[target_feature(enable = "avx2")]
unsafe fn dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
    // SAFETY: the caller's promise.
    unsafe { simd::dense::<Avx2Int8<false>>(layer, input, scales, 0, epilogue) }
}

// SAFETY of every function: callers of [`Unit`] guarantee the instructions and the pointers.
impl<const VNNI: bool> Unit for Avx2Int8<VNNI> {
    type Floats = __m256;
    type Integers = __m256i;
    type Weights = __m256i;
    type Sums = __m256i;
    const LANES: usize = 8;
    const VECTORS: usize = 2;

    #[target_feature(enable = "avx2")]
    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { simd::quantise::<Avx2Int8<VNNI>>(row, inputs) }
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
        unsafe { simd::sum_rows::<Avx2Int8<VNNI>>(table, rows, out) }
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

    #[inline(always)]
    unsafe fn floats(sums: __m256i) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtepi32_ps(sums) }
    }

    #[inline(always)]
    unsafe fn halves(words: __m256i) -> [__m256; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            [_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words)]
                .map(|half| _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(half)))
        }
    }

    #[inline(always)]
    unsafe fn splat(number: f32) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_set1_ps(number) }
    }

    #[inline(always)]
    unsafe fn add(left: __m256, right: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn scale(left: __m256, right: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_mul_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn larger(left: __m256, right: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_max_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn largest(numbers: __m256) -> f32 {
        // SAFETY: the caller's promise.
        unsafe {
            let high = _mm256_extractf128_ps::<1>(numbers);
            let four = _mm_max_ps(_mm256_castps256_ps128(numbers), high);
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(numbers: __m256, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            let numbers = _mm256_cvtps_epi32(numbers);
            let (low, high) = (_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers));
            let words = _mm_packs_epi32(low, high);
            _mm_storel_epi64(to.cast::<__m128i>(), _mm_packus_epi16(words, words))
        }
    }
}
