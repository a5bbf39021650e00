//! A network computed in small integers.

use super::{CHUNK, Numbers};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use crate::net::kernel::int8::amx::Amx;
#[cfg(target_arch = "aarch64")]
use crate::net::kernel::int8::neon::Neon;
#[cfg(target_feature = "simd128")]
use crate::net::kernel::int8::wasm::Simd128;
use crate::net::kernel::int8::{Dense8, Int8, Rows16, portable::Portable8};
#[cfg(target_arch = "x86_64")]
use crate::net::kernel::int8::{avx2::Avx2Int8, vnni::Vnni};
use crate::net::kernel::{Aligned, Epilogue};
use crate::net::{Network, Weights};

/// The network for the best instructions of this CPU. All variants give the same bits.
pub(super) fn packed(weights: &Weights) -> Box<dyn Network> {
    let best: Option<Box<dyn Network>> = None;
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    let best = best.or_else(|| packed_if(Amx::detect(), weights));
    #[cfg(target_arch = "x86_64")]
    let best = best.or_else(|| packed_if(Vnni::detect(), weights));
    #[cfg(target_arch = "x86_64")]
    let best = best.or_else(|| packed_if(Avx2Int8::<true>::detect(), weights));
    #[cfg(target_arch = "x86_64")]
    let best = best.or_else(|| packed_if(Avx2Int8::<false>::detect(), weights));
    #[cfg(target_arch = "aarch64")]
    let best = best.or_else(|| packed_if(Neon::detect(), weights));
    #[cfg(target_feature = "simd128")]
    let best = best.or_else(|| packed_if(Simd128::detect(), weights));
    best.unwrap_or_else(|| super::packed(Portable8, weights))
}

fn packed_if(kernel: Option<impl Int8>, weights: &Weights) -> Option<Box<dyn Network>> {
    Some(super::packed(kernel?, weights))
}

/// The trunk in seven bits.
pub(super) struct Inputs {
    bytes: Aligned<u8>, // [CHUNK, width]
    scales: Vec<f32>,   // of the rows taken last
}

/// Integers of 8 and 16 bits.
impl<K: Int8> Numbers for K {
    type Rows = Rows16;
    type Layer = Dense8;
    type Inputs = Inputs;

    fn rows(matrix: &[f32], bias: &[f32]) -> Rows16 {
        Rows16::pack(matrix, bias)
    }

    fn layer(matrix: &[f32], bias: &[f32]) -> Dense8 {
        Dense8::pack::<K>(matrix, bias)
    }

    fn outputs(layer: &Dense8) -> usize {
        layer.layer.outputs
    }

    fn inputs(width: usize) -> Inputs {
        Inputs { bytes: Aligned::new(CHUNK * width), scales: Vec::with_capacity(CHUNK) }
    }

    fn sum_rows(self, table: &Rows16, rows: &[u32], out: &mut [f32]) {
        Int8::sum_rows(self, table, rows, out);
    }

    fn take(self, trunk: &[f32], width: usize, inputs: &mut Inputs) {
        let bytes = inputs.bytes.chunks_exact_mut(width);
        let rows = trunk.chunks_exact(width).zip(bytes);
        inputs.scales.clear();
        let scales = rows.map(|(row, bytes)| self.quantise(row, bytes));
        inputs.scales.extend(scales);
    }

    fn dense(self, layer: &Dense8, trunk: &[f32], inputs: &Inputs, epilogue: Epilogue<'_>) {
        let bytes = &inputs.bytes[..trunk.len()];
        Int8::dense(self, layer, bytes, &inputs.scales, epilogue);
    }
}
