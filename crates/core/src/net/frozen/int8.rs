//! A network in small integers.

use std::mem::swap;
use std::ops::Range;
use std::sync::Arc;

use super::{CHUNK, RunNet, heads, in_chunks};
#[cfg(target_arch = "aarch64")]
use crate::net::kernel::int8::neon::Neon;
use crate::net::kernel::int8::{Dense8, Int8, Rows16, portable::Portable8};
#[cfg(target_arch = "x86_64")]
use crate::net::kernel::int8::{avx2::Avx2Int8, vnni::Vnni};
use crate::net::kernel::{Aligned, Epilogue};
use crate::net::{FeatureBatch, Logits, NetShape, Weights};

/// The network for the best instructions of this processor. All give the same bits.
pub(super) fn runner(weights: &Weights) -> Box<dyn RunNet> {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Vnni::detect() {
        return with_kernel(kernel, weights);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Avx2Int8::detect() {
        return with_kernel(kernel, weights);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(kernel) = Neon::detect() {
        return with_kernel(kernel, weights);
    }
    with_kernel(Portable8, weights)
}

fn with_kernel<K: Int8>(kernel: K, weights: &Weights) -> Box<dyn RunNet> {
    Box::new(Runner::new(Arc::new(Packed::new(kernel, weights))))
}

/// Weights packed for one kernel.
struct Packed<K: Int8> {
    kernel: K,
    shape: NetShape,
    width: usize,
    stem: Rows16, // [features, width]
    blocks: Vec<Dense8>,
    heads: Dense8, // all of them as one product
}

impl<K: Int8> Packed<K> {
    fn new(kernel: K, weights: &Weights) -> Packed<K> {
        let dense = |[matrix, bias]: [&[f32]; 2]| Dense8::pack::<K>(matrix, bias);
        let block = |index| dense(weights.layer(&format!("blocks.{index}")));
        let (matrix, bias) = heads(weights);
        let [stem, stem_bias] = weights.layer("stem");
        Packed {
            kernel,
            shape: *weights.shape(),
            width: weights.settings().width,
            stem: Rows16::pack(stem, stem_bias),
            blocks: (0..weights.settings().blocks).map(block).collect(),
            heads: dense([&matrix, &bias]),
        }
    }
}

struct Runner<K: Int8> {
    net: Arc<Packed<K>>,
    trunk: Aligned<f32>, // [CHUNK, width]
    next: Aligned<f32>,
    inputs: Aligned<u8>, // the trunk in seven bits
    scales: Vec<f32>,    // [CHUNK], of the inputs
}

impl<K: Int8> Runner<K> {
    fn new(net: Arc<Packed<K>>) -> Runner<K> {
        let size = CHUNK * net.width;
        Runner {
            net,
            trunk: Aligned::new(size),
            next: Aligned::new(size),
            inputs: Aligned::new(size),
            scales: vec![0.0; CHUNK],
        }
    }

    /// Evaluates positions `range` of the batch; `out` is `[range, stride]`.
    fn forward(&mut self, batch: &FeatureBatch, range: Range<usize>, out: &mut [f32]) {
        let Packed { kernel, width, .. } = *self.net;
        let size = range.len() * width;
        let (mut trunk, mut next) = (&mut self.trunk[..size], &mut self.next[..size]);
        let (inputs, scales) = (&mut self.inputs[..size], &mut self.scales[..range.len()]);
        let quantise = |trunk: &[f32], inputs: &mut [u8], scales: &mut [f32]| {
            let rows = trunk
                .chunks_exact(width)
                .zip(inputs.chunks_exact_mut(width));
            for ((row, inputs), scale) in rows.zip(scales) {
                *scale = kernel.quantise(row, inputs);
            }
        };
        for (row, hidden) in range.zip(trunk.chunks_exact_mut(width)) {
            kernel.sum_rows(&self.net.stem, batch.row(row), hidden);
        }
        quantise(trunk, inputs, scales);
        for block in &self.net.blocks {
            let epilogue = Epilogue::Hidden {
                residual: trunk,
                out: next,
            };
            kernel.dense(block, inputs, scales, epilogue);
            swap(&mut trunk, &mut next);
            quantise(trunk, inputs, scales);
        }
        kernel.dense(&self.net.heads, inputs, scales, Epilogue::Sums { out });
    }
}

impl<K: Int8> RunNet for Runner<K> {
    fn run(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        let outputs = self.net.heads.outputs();
        in_chunks(self.net.shape, outputs, batch, logits, |range, out| {
            self.forward(batch, range, out);
        });
    }

    fn fork(&self) -> Box<dyn RunNet> {
        Box::new(Runner::new(Arc::clone(&self.net)))
    }
}
