//! Fast evaluation of a network with fixed weights on one core.

mod int8;

use std::mem::swap;
use std::ops::Range;
use std::sync::Arc;

use super::features::FeatureBatch;
use super::kernel::{Aligned, Dense, Epilogue, Kernel, KernelKind, PackedRows, portable::Portable};
#[cfg(target_arch = "x86_64")]
use super::kernel::{avx2::Avx2, avx512::Avx512};
use super::logits::Logits;
use super::settings::NetShape;
use super::weights::Weights;

/// Positions computed together, few enough that their activations stay in the cache. A multiple of the
/// six rows of a tile.
const CHUNK: usize = 96;

/// A network that is ready to evaluate batches of positions. Clones share the weights, so each thread
/// can have one.
pub struct FrozenNet {
    runner: Box<dyn RunNet>,
    kind: KernelKind,
    shape: NetShape,
}

impl FrozenNet {
    /// Packs the weights for the fastest kernel of this processor.
    pub fn new(weights: &Weights) -> FrozenNet {
        FrozenNet::with_kernel(weights, KernelKind::best()).expect("an available kernel runs")
    }

    /// Packs the weights for this kernel; `None` if this processor cannot run it.
    pub fn with_kernel(weights: &Weights, kind: KernelKind) -> Option<FrozenNet> {
        let runner = match kind {
            KernelKind::Portable => runner(Portable, weights),
            KernelKind::Int8 => int8::runner(weights),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx2 => runner(Avx2::detect()?, weights),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512 => runner(Avx512::detect()?, weights),
            #[cfg(not(target_arch = "x86_64"))]
            _ => return None,
        };
        let shape = *weights.shape();
        Some(FrozenNet {
            runner,
            kind,
            shape,
        })
    }

    /// The kernel that evaluates this network.
    pub fn kernel(&self) -> KernelKind {
        self.kind
    }

    /// The inputs and outputs of the network.
    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// Evaluates a batch of positions. The result for a position has the same bits in every batch.
    ///
    /// # Panics
    /// Panics if a feature index is outside the network's inputs.
    pub fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        self.runner.run(batch, logits);
    }
}

impl Clone for FrozenNet {
    fn clone(&self) -> FrozenNet {
        FrozenNet {
            runner: self.runner.fork(),
            ..*self
        }
    }
}

/// A network packed for some kernel, with its working memory.
trait RunNet: Send {
    fn run(&mut self, batch: &FeatureBatch, logits: &mut Logits);

    /// The same network with working memory of its own.
    fn fork(&self) -> Box<dyn RunNet>;
}

fn runner<K: Kernel>(kernel: K, weights: &Weights) -> Box<dyn RunNet> {
    Box::new(Runner::new(Arc::new(Packed::new(kernel, weights))))
}

/// Weights packed for one kernel.
struct Packed<K: Kernel> {
    kernel: K,
    shape: NetShape,
    width: usize,
    stem: PackedRows, // [features, width]
    blocks: Vec<Dense<f32>>,
    heads: Dense<f32>, // all of them as one product
}

impl<K: Kernel> Packed<K> {
    fn new(kernel: K, weights: &Weights) -> Packed<K> {
        let shape = *weights.shape();
        let width = weights.settings().width;
        let dense =
            |[matrix, bias]: [&[f32]; 2]| Dense::pack(matrix, bias, K::COLUMNS, 1, |number| number);
        let block = |index| dense(weights.layer(&format!("blocks.{index}")));
        let (matrix, bias) = heads(weights);
        let [stem, stem_bias] = weights.layer("stem");
        Packed {
            kernel,
            shape,
            width,
            stem: PackedRows::pack(stem, stem_bias),
            blocks: (0..weights.settings().blocks).map(block).collect(),
            heads: dense([&matrix, &bias]),
        }
    }
}

/// All heads as one product: the matrix `[width, outputs]` and the bias.
fn heads(weights: &Weights) -> (Vec<f32>, Vec<f32>) {
    let shape = weights.shape();
    let heads: Vec<_> = shape.heads().map(|(name, _)| weights.layer(name)).collect();
    let width = weights.settings().width;
    let mut matrix = Vec::with_capacity(width * shape.outputs());
    for input in 0..width {
        for [matrix_of_head, bias] in &heads {
            matrix.extend_from_slice(&matrix_of_head[input * bias.len()..][..bias.len()]);
        }
    }
    let bias = heads.iter().flat_map(|[_, bias]| *bias);
    (matrix, bias.copied().collect())
}

struct Runner<K: Kernel> {
    net: Arc<Packed<K>>,
    trunk: Aligned<f32>, // [CHUNK, width]
    next: Aligned<f32>,
}

impl<K: Kernel> Runner<K> {
    fn new(net: Arc<Packed<K>>) -> Runner<K> {
        let size = CHUNK * net.width;
        Runner {
            net,
            trunk: Aligned::new(size),
            next: Aligned::new(size),
        }
    }

    /// Evaluates positions `range` of the batch; `out` is `[range, stride]`.
    fn forward(&mut self, batch: &FeatureBatch, range: Range<usize>, out: &mut [f32]) {
        let Packed { kernel, width, .. } = *self.net;
        let size = range.len() * width;
        let (mut trunk, mut next) = (&mut self.trunk[..size], &mut self.next[..size]);
        for (row, hidden) in range.zip(trunk.chunks_exact_mut(width)) {
            kernel.sum_rows(&self.net.stem, batch.row(row), hidden);
        }
        for block in &self.net.blocks {
            let epilogue = Epilogue::Hidden {
                residual: trunk,
                out: next,
            };
            kernel.dense(block, trunk, epilogue);
            swap(&mut trunk, &mut next);
        }
        kernel.dense(&self.net.heads, trunk, Epilogue::Sums { out });
    }
}

impl<K: Kernel> RunNet for Runner<K> {
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

/// Fills the outputs of a batch, `outputs` for each position, chunk by chunk.
fn in_chunks(
    shape: NetShape,
    outputs: usize,
    batch: &FeatureBatch,
    logits: &mut Logits,
    mut forward: impl FnMut(Range<usize>, &mut [f32]),
) {
    logits.shape = shape;
    logits.stride = outputs;
    logits.numbers.resize(batch.len() * outputs, 0.0);
    for start in (0..batch.len()).step_by(CHUNK) {
        let end = batch.len().min(start + CHUNK);
        forward(
            start..end,
            &mut logits.numbers[start * outputs..end * outputs],
        );
    }
}
