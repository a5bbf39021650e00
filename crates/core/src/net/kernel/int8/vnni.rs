//! AVX-512 with VNNI: four products of bytes in one instruction; six rows by four vectors of 16.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m128i, __m512, __m512i, _mm512_add_epi16, _mm512_add_ps, _mm512_castsi512_si256, _mm512_cvtepi16_epi32,
    _mm512_cvtepi32_epi8, _mm512_cvtepi32_ps, _mm512_cvtps_epi32, _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64,
    _mm512_max_ps, _mm512_mul_ps, _mm512_reduce_max_ps, _mm512_set1_epi32, _mm512_set1_ps,
};

use super::simd::{self, Unit};
use super::{Dense8, Rows16};
use crate::net::kernel::Epilogue;

/// The kernel of AVX-512 with VNNI. Holding one proves that this processor has both.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Vnni(());

impl Vnni {
    /// The kernel, if this processor can run it.
    pub(in crate::net) fn detect() -> Option<Vnni> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni");
        has.then_some(Vnni(()))
    }
}

// SAFETY of every function: callers of [`Unit`] guarantee the instructions and the pointers.
impl Unit for Vnni {
    type Floats = __m512;
    type Integers = __m512i;
    type Weights = __m512i;
    type Sums = __m512i;
    const LANES: usize = 16;
    const VECTORS: usize = 4;

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn run_quantise(row: &[f32], inputs: &mut [u8]) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { simd::quantise::<Vnni>(row, inputs) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn run_dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Vnni>(layer, input, scales, 0, epilogue) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn run_sum_rows(table: &Rows16, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Vnni>(table, rows, out) }
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

    #[inline(always)]
    unsafe fn floats(sums: __m512i) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_cvtepi32_ps(sums) }
    }

    #[inline(always)]
    unsafe fn halves(words: __m512i) -> [__m512; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            [_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64::<1>(words)]
                .map(|half| _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(half)))
        }
    }

    #[inline(always)]
    unsafe fn splat(number: f32) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_ps(number) }
    }

    #[inline(always)]
    unsafe fn add(left: __m512, right: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn scale(left: __m512, right: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mul_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn larger(left: __m512, right: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_max_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn largest(numbers: __m512) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_reduce_max_ps(numbers) }
    }

    #[inline(always)]
    unsafe fn store_bytes(numbers: __m512, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<__m128i>().write_unaligned(_mm512_cvtepi32_epi8(_mm512_cvtps_epi32(numbers))) }
    }
}
