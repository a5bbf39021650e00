//! AVX-512 with bf16: products of 16-bit numbers, 32-bit sums, two inputs at a time.
//!
//! A bf16 number has 8 significant bits, so rounding changes weights and activations by at most one
//! part in 512. Sums keep 32 bits.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m256bh, __m512, __m512bh, __m512i, _mm256_loadu_si256, _mm512_add_ps, _mm512_castsi512_ps,
    _mm512_cvtepu16_epi32, _mm512_cvtneps_pbh, _mm512_dpbf16_ps, _mm512_loadu_ps, _mm512_max_ps,
    _mm512_set1_epi32, _mm512_setzero_ps, _mm512_slli_epi32, _mm512_storeu_ps,
};
use std::mem::transmute;

use super::simd::{self, Simd};
use super::{Dense, Epilogue, PackedRows};

/// The upper half of a 32-bit number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(in crate::net) struct Bf16(u16);

impl Bf16 {
    #[cfg(test)]
    pub(in crate::net) fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

impl From<f32> for Bf16 {
    /// Rounds a finite number to the nearest, ties to even.
    fn from(number: f32) -> Bf16 {
        let bits = number.to_bits();
        let half = 0x7fff + (bits >> 16 & 1);
        Bf16((bits.wrapping_add(half) >> 16) as u16)
    }
}

/// The AVX-512 bf16 kernel. Holding one proves that this processor has AVX-512 with bf16.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Avx512Bf16(());

impl Avx512Bf16 {
    /// The kernel, if this processor can run it.
    pub(in crate::net) fn detect() -> Option<Avx512Bf16> {
        let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16");
        has.then_some(Avx512Bf16(()))
    }
}

// SAFETY of every function: callers of [`Simd`] guarantee the instructions and the pointers.
impl Simd for Avx512Bf16 {
    type Element = Bf16;
    type Sums = __m512;
    type Group = __m512bh;
    const LANES: usize = 16;
    const DEPTH: usize = 2;
    const VECTORS: usize = 4;

    fn element(number: f32) -> Bf16 {
        Bf16::from(number)
    }

    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn run_dense(layer: &Dense<Bf16>, input: &[Bf16], epilogue: &mut Epilogue<'_, Bf16>) {
        // SAFETY: the caller's promise.
        unsafe { simd::dense::<Avx512Bf16>(layer, input, epilogue) }
    }

    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn run_sum_rows(table: &PackedRows<Bf16>, rows: &[u32], out: &mut [Bf16]) {
        // SAFETY: the caller's promise.
        unsafe { simd::sum_rows::<Avx512Bf16>(table, rows, out) }
    }

    #[inline(always)]
    unsafe fn zero() -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn weights(from: *const Bf16) -> __m512bh {
        // SAFETY: the caller's promise.
        unsafe { from.cast::<__m512bh>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn splat(from: *const Bf16) -> __m512bh {
        // SAFETY: the caller's promise.
        unsafe {
            let pair = from.cast::<i32>().read_unaligned();
            transmute::<__m512i, __m512bh>(_mm512_set1_epi32(pair))
        }
    }

    #[inline(always)]
    unsafe fn multiply(sums: __m512, inputs: __m512bh, weights: __m512bh) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_dpbf16_ps(sums, inputs, weights) }
    }

    #[inline(always)]
    unsafe fn widen(from: *const Bf16) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe {
            let halves = _mm256_loadu_si256(from.cast());
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
        }
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
    unsafe fn narrow(sums: __m512, to: *mut Bf16) {
        // SAFETY: the caller's promise.
        unsafe {
            to.cast::<__m256bh>()
                .write_unaligned(_mm512_cvtneps_pbh(sums))
        }
    }

    #[inline(always)]
    unsafe fn store(sums: __m512, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(to, sums) }
    }
}
