//! Compares every kernel of this machine with the portable one, over all shapes of tiles.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // elsewhere the portable kernel is the only one in floats

use rand::RngExt;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::int8::amx::Amx;
#[cfg(target_arch = "aarch64")]
use super::int8::neon::Neon;
#[cfg(target_feature = "simd128")]
use super::int8::wasm::Simd128;
use super::int8::{Dense8, Int8, Rows16, portable::Portable8};
#[cfg(target_arch = "x86_64")]
use super::int8::{avx2::Avx2Int8, vnni::Vnni};
use super::portable::Portable;
use super::{Dense, Epilogue, Kernel, PackedRows};
use crate::random::{Stream, stream};

/// The outputs of a kernel as 32-bit numbers.
#[derive(PartialEq, Debug)]
struct Answers {
    hidden: Vec<f32>,
    sums: Vec<f32>,
}

struct Numbers(Stream);

impl Numbers {
    fn some(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.0.random::<f32>() - 0.5).collect()
    }
}

/// A product packed for a kernel.
fn packed<K: Kernel>(matrix: &[f32], bias: &[f32]) -> Dense<f32> {
    Dense::pack(matrix, bias, K::COLUMNS, 1, |number| number)
}

fn dense<K: Kernel>(kernel: K, (rows, inputs, outputs): (usize, usize, usize)) -> Answers {
    let mut numbers = Numbers(stream(5, (rows * 1000 + inputs * 10 + outputs) as u64));
    let weights = numbers.some(inputs * outputs);
    let bias = numbers.some(outputs);
    let input = numbers.some(rows * inputs);
    let layer = packed::<K>(&weights, &bias);
    let size = rows * layer.outputs();
    let residual = numbers.some(size);
    let mut hidden = vec![0.0; size];
    let epilogue = Epilogue::Hidden { residual: &residual, out: &mut hidden };
    kernel.dense(&layer, &input, epilogue);
    let mut sums = vec![0.0; size];
    kernel.dense(&layer, &input, Epilogue::Sums { out: &mut sums });
    Answers { hidden, sums }
}

fn sum_rows<K: Kernel>(kernel: K, (rows, width): (usize, usize)) -> Answers {
    const TABLE: usize = 11;
    let mut numbers = Numbers(stream(6, (rows * 1000 + width) as u64));
    let entries = numbers.some(TABLE * width);
    let bias = numbers.some(width);
    let table = PackedRows::pack(&entries, &bias);
    let rows: Vec<u32> = (0..rows as u32).map(|row| row * 7 % TABLE as u32).collect();
    let mut hidden = vec![0.0; width];
    kernel.sum_rows(&table, &rows, &mut hidden);
    Answers { hidden, sums: Vec::new() }
}

fn compare(what: &str, computed: &Answers, expected: &Answers, tolerance: f32) {
    for (part, computed, expected) in
        [("hidden", &computed.hidden, &expected.hidden), ("sums", &computed.sums, &expected.sums)]
    {
        assert_eq!(computed.len(), expected.len());
        for (place, (computed, expected)) in computed.iter().zip(expected).enumerate() {
            assert!(
                (computed - expected).abs() <= tolerance,
                "{what}, {part} {place}: {computed} instead of {expected}"
            );
        }
    }
}

/// Compares a kernel with the portable one; errors grow with the square root of `inputs`.
#[cfg(target_arch = "x86_64")]
fn check<K: Kernel>(kernel: K, error: f32) {
    for rows in [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 15, 16, 17, 32, 33, 97] {
        for (inputs, outputs) in [(2, 1), (16, 16), (32, 33), (64, 64), (48, 7), (96, 176)] {
            let shape = (rows, inputs, outputs);
            let computed = dense(kernel, shape);
            let expected = dense(Portable, shape);
            let tolerance = error * (inputs as f32).sqrt();
            compare(&format!("dense {shape:?}"), &computed, &expected, tolerance);
        }
    }
    for width in [16, 32, 48, 64, 128, 208, 512] {
        for rows in [0, 1, 2, 5, 11] {
            let computed = sum_rows(kernel, (rows, width));
            let expected = sum_rows(Portable, (rows, width));
            let tolerance = error * (1.0 + rows as f32).sqrt();
            compare(&format!("rows {rows} of {width}"), &computed, &expected, tolerance);
        }
    }
    for (inputs, outputs) in [(34, 16), (64, 48), (96, 80)] {
        rows_are_the_same_bits_in_every_batch(kernel, inputs, outputs);
    }
}

/// Computes all rows together, and then parts of them.
fn rows_are_the_same_bits_in_every_batch<K: Kernel>(kernel: K, inputs: usize, outputs: usize) {
    const ROWS: usize = 70;
    let mut numbers = Numbers(stream(7, (inputs * 1000 + outputs) as u64));
    let weights = numbers.some(inputs * outputs);
    let bias = numbers.some(outputs);
    let input = numbers.some(ROWS * inputs);
    let layer = packed::<K>(&weights, &bias);
    let sums = |first: usize, rows: usize| {
        let input = &input[first * inputs..][..rows * inputs];
        let mut sums = vec![0.0; rows * layer.outputs()];
        kernel.dense(&layer, input, Epilogue::Sums { out: &mut sums });
        sums.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let together = sums(0, ROWS);
    for rows in [0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 65] {
        for first in [0, 1, ROWS - rows] {
            let expected = &together[first * layer.outputs()..][..rows * layer.outputs()];
            assert_eq!(sums(first, rows), expected, "{rows} rows from {first}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_avx2_kernel_agrees_with_the_portable_one() {
    if let Some(kernel) = super::avx2::Avx2::detect() {
        check(kernel, 1e-6);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_avx512_kernel_agrees_with_the_portable_one() {
    if let Some(kernel) = super::avx512::Avx512::detect() {
        check(kernel, 1e-6);
    }
}

/// What a kernel of small integers computes for a network of one block: hidden numbers and sums.
fn in_integers<K: Int8>(kernel: K, (rows, inputs, outputs): (usize, usize, usize)) -> Vec<u32> {
    let mut numbers = Numbers(stream(8, (rows * 1000 + inputs * 10 + outputs) as u64));
    let table = Rows16::pack(&numbers.some(11 * inputs), &numbers.some(inputs));
    let layer = Dense8::pack::<K>(&numbers.some(inputs * outputs), &numbers.some(outputs));
    let mut hidden = vec![0.0; rows * inputs];
    let (mut bytes, mut scales) = (vec![0; rows * inputs], vec![0.0; rows]);
    for (row, hidden) in hidden.chunks_exact_mut(inputs).enumerate() {
        let features: Vec<u32> = (0..row as u32 % 12).map(|place| place * 7 % 11).collect();
        kernel.sum_rows(&table, &features, hidden);
        scales[row] = kernel.quantise(hidden, &mut bytes[row * inputs..][..inputs]);
    }
    let size = rows * layer.outputs();
    let (residual, mut out, mut sums) = (numbers.some(size), vec![0.0; size], vec![0.0; size]);
    let epilogue = Epilogue::Hidden { residual: &residual, out: &mut out };
    kernel.dense(&layer, &bytes, &scales, epilogue);
    kernel.dense(&layer, &bytes, &scales, Epilogue::Sums { out: &mut sums });
    let all = hidden.into_iter().chain(scales).chain(out).chain(sums);
    all.map(f32::to_bits).chain(bytes.into_iter().map(u32::from)).collect()
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
fn integers_are_the_same_bits<K: Int8>(kernel: K) {
    for rows in [1, 2, 3, 4, 5, 6, 7, 12, 13, 16, 97] {
        for (inputs, outputs) in [(32, 1), (64, 33), (96, 176), (256, 112), (416, 80)] {
            let shape = (rows, inputs, outputs);
            assert!(in_integers(kernel, shape) == in_integers(Portable8, shape), "{shape:?}");
        }
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
#[test]
fn kernels_of_small_integers_give_the_same_bits() {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Avx2Int8::<false>::detect() {
        integers_are_the_same_bits(kernel);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Avx2Int8::<true>::detect() {
        integers_are_the_same_bits(kernel);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Vnni::detect() {
        integers_are_the_same_bits(kernel);
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    if let Some(kernel) = Amx::detect() {
        integers_are_the_same_bits(kernel);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(kernel) = Neon::detect() {
        integers_are_the_same_bits(kernel);
    }
    #[cfg(target_feature = "simd128")]
    if let Some(kernel) = Simd128::detect() {
        integers_are_the_same_bits(kernel);
    }
}

#[test]
fn the_portable_kernel_follows_the_formula() {
    // Two rows of two inputs, three outputs.
    let layer = packed::<Portable>(&[1.0, 2.0, -3.0, 10.0, 20.0, 30.0], &[0.5, 0.0, -0.5]);
    let input = [1.0, 0.1, 2.0, 0.0];
    let mut sums = [0.0; 32];
    Portable.dense(&layer, &input, Epilogue::Sums { out: &mut sums });
    let (first, second) = sums.split_at(16);
    assert_eq!(first[..4], [2.5, 4.0, -0.5, 0.0]);
    assert_eq!(second[..4], [2.5, 4.0, -6.5, 0.0]);
    let mut hidden = [0.0; 32];
    let epilogue = Epilogue::Hidden { residual: &[1.0; 32], out: &mut hidden };
    Portable.dense(&layer, &input, epilogue);
    let (first, second) = hidden.split_at(16);
    assert_eq!(first[..4], [3.5, 5.0, 0.5, 1.0]);
    assert_eq!(second[..4], [3.5, 5.0, 0.0, 1.0]);
}

#[test]
#[should_panic(expected = "whole rows")]
fn a_product_of_half_a_row_is_refused() {
    let layer = packed::<Portable>(&[0.0; 16], &[0.0; 4]);
    let mut sums = [0.0; 32];
    Portable.dense(&layer, &[0.0; 7], Epilogue::Sums { out: &mut sums });
}

#[test]
#[should_panic(expected = "one sum per row and column")]
fn a_product_past_the_end_of_its_output_is_refused() {
    let layer = packed::<Portable>(&[0.0; 16], &[0.0; 4]);
    let mut sums = [0.0; 31];
    Portable.dense(&layer, &[0.0; 8], Epilogue::Sums { out: &mut sums });
}
