//! AVX2 with FMA in 32-bit numbers: six rows by two vectors of 8.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m256, _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_storeu_ps,
};

use super::simd::{self, Simd};
use super::{Dense, Epilogue, PackedRows};

/// The AVX2 kernel. Holding one proves that this processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Avx2(());

impl Avx2 {
    /// The kernel, if this processor can run it.
    pub(in crate::net) fn detect() -> Option<Avx2> {
        let has = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        has.then_some(Avx2(()))
    }
}

// SAFETY of every function: callers of [`Simd`] guarantee the instructions and the pointers.
impl Simd for Avx2 {
    type Floats = __m256;
    const LANES: usize = 8;
    const VECTORS: usize = 2;

    #[target_feature(enable = "avx2,fma")]
    unsafe fn run_dense(layer: &Dense<f32>, input: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Avx2>(layer, input, epilogue) }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn run_sum_rows(table: &PackedRows, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Avx2>(table, rows, out) }
    }

    #[inline(always)]
    unsafe fn zero() -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn splat(from: *const f32) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_set1_ps(*from) }
    }

    #[inline(always)]
    unsafe fn multiply(sums: __m256, inputs: __m256, weights: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_fmadd_ps(inputs, weights, sums) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn add(left: __m256, right: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn relu(sums: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_max_ps(sums, _mm256_setzero_ps()) }
    }

    #[inline(always)]
    unsafe fn store(sums: __m256, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_ps(to, sums) }
    }
}
