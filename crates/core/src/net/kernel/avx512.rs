//! AVX-512 in 32-bit numbers: six rows by four vectors of 16.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_max_ps, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_storeu_ps,
};

use super::simd::{self, Simd};
use super::{Dense, Epilogue, PackedRows};

/// The AVX-512 kernel. Holding one proves that this processor has AVX-512.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Avx512(());

impl Avx512 {
    /// The kernel, if this processor can run it.
    pub(in crate::net) fn detect() -> Option<Avx512> {
        is_x86_feature_detected!("avx512f").then_some(Avx512(()))
    }
}

// SAFETY of every function: callers of [`Simd`] guarantee the instructions and the pointers.
impl Simd for Avx512 {
    type Floats = __m512;
    const LANES: usize = 16;
    const VECTORS: usize = 4;

    #[target_feature(enable = "avx512f")]
    unsafe fn run_dense(layer: &Dense<f32>, input: &[f32], epilogue: &mut Epilogue<'_>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Avx512>(layer, input, epilogue) }
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn run_sum_rows(table: &PackedRows, rows: &[u32], out: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Avx512>(table, rows, out) }
    }

    #[inline(always)]
    unsafe fn zero() -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn splat(from: *const f32) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_ps(*from) }
    }

    #[inline(always)]
    unsafe fn multiply(sums: __m512, inputs: __m512, weights: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_fmadd_ps(inputs, weights, sums) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn add(left: __m512, right: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_ps(left, right) }
    }

    #[inline(always)]
    unsafe fn relu(sums: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_max_ps(sums, _mm512_setzero_ps()) }
    }

    #[inline(always)]
    unsafe fn store(sums: __m512, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(to, sums) }
    }
}
