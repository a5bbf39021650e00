//! Compares every kernel of this machine with the portable one, over all shapes of tiles.

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
use super::{Dense, Epilogue};
use crate::random::{Stream, stream};

struct Numbers(Stream);

impl Numbers {
    fn some(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.0.random::<f32>() - 0.5).collect()
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
    let size = rows * layer.layer.outputs;
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
fn floats_follow_the_formula() {
    // Two rows of two inputs, three outputs.
    let layer = Dense::floats(&[1.0, 2.0, -3.0, 10.0, 20.0, 30.0], &[0.5, 0.0, -0.5]);
    let input = [1.0, 0.1, 2.0, 0.0];
    let mut sums = [0.0; 32];
    layer.multiply(&input, Epilogue::Sums { out: &mut sums });
    let (first, second) = sums.split_at(16);
    assert_eq!(first[..4], [2.5, 4.0, -0.5, 0.0]);
    assert_eq!(second[..4], [2.5, 4.0, -6.5, 0.0]);
    let mut hidden = [0.0; 32];
    layer.multiply(&input, Epilogue::Hidden { residual: &[1.0; 32], out: &mut hidden });
    let (first, second) = hidden.split_at(16);
    assert_eq!(first[..4], [3.5, 5.0, 0.5, 1.0]);
    assert_eq!(second[..4], [3.5, 5.0, 0.0, 1.0]);
}

#[test]
#[should_panic(expected = "whole rows")]
fn a_product_of_half_a_row_is_refused() {
    let layer = Dense::floats(&[0.0; 16], &[0.0; 4]);
    let mut sums = [0.0; 32];
    layer.multiply(&[0.0; 7], Epilogue::Sums { out: &mut sums });
}

#[test]
#[should_panic(expected = "one sum per row and column")]
fn a_product_past_the_end_of_its_output_is_refused() {
    let layer = Dense::floats(&[0.0; 16], &[0.0; 4]);
    let mut sums = [0.0; 31];
    layer.multiply(&[0.0; 8], Epilogue::Sums { out: &mut sums });
}
