//! Fast evaluation of a network with fixed weights on one core.

mod int8;

use std::mem::swap;
use std::ops::Range;
use std::sync::Arc;

use super::evaluator::{BATCH, Network, Traffic};
use super::features::FeatureBatch;
use super::kernel::{Aligned, Dense, Epilogue, KernelKind, floats::FloatRows};
use super::logits::Logits;
use super::settings::NetShape;
use super::weights::Weights;

/// Positions computed together, few enough that their activations stay in the cache.
const CHUNK: usize = 96;

/// A network that is ready to evaluate batches of positions. Clones share the weights, so each thread
/// can have one.
pub struct FrozenNet {
    net: Box<dyn Network>,
    kind: KernelKind,
    shape: NetShape,
    batch: usize, // the preferred number of positions
}

impl FrozenNet {
    /// Packs the weights for the fastest kernel for this CPU.
    pub fn new(weights: &Weights) -> FrozenNet {
        FrozenNet::with_kernel(weights, KernelKind::best())
    }

    /// Packs the weights for this kernel.
    pub fn with_kernel(weights: &Weights, kind: KernelKind) -> FrozenNet {
        if let Some(registered) = weights.net().registered().expect("weights are of a network that is known") {
            return (registered.freeze)(weights);
        }
        let net = match kind {
            KernelKind::Portable => packed(Floats, weights),
            KernelKind::Int8 => int8::packed(weights),
        };
        FrozenNet { kind, shape: *weights.shape(), batch: BATCH, net }
    }

    /// Any other network with fixed weights.
    pub fn of(net: impl Network + 'static) -> FrozenNet {
        FrozenNet { shape: *net.shape(), batch: net.batch(), net: Box::new(net), kind: KernelKind::Portable }
    }

    /// The same network, which prefers this number of positions in a batch.
    #[must_use]
    pub fn in_batches_of(self, batch: usize) -> FrozenNet {
        FrozenNet { batch, ..self }
    }

    /// A network for each group of trees of this many search threads. The groups that threads have at a device at a time
    /// make up its batch.
    pub fn for_threads(&self, threads: usize) -> Vec<FrozenNet> {
        let (groups, batch) = (self.groups(), self.batch());
        let batch = if groups > 1 { batch.div_ceil(threads) } else { batch };
        vec![self.clone().in_batches_of(batch); threads * groups]
    }

    /// The kernel that evaluates this network; `portable` for registered networks.
    pub fn kernel(&self) -> KernelKind {
        self.kind
    }
}

impl Network for FrozenNet {
    fn shape(&self) -> &NetShape {
        &self.shape
    }

    fn batch(&self) -> usize {
        self.batch
    }

    /// The result for a position has the same bits in every batch.
    ///
    /// # Panics
    /// Panics if a feature index is outside the network's inputs.
    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        self.net.evaluate(batch, logits);
    }

    fn groups(&self) -> usize {
        self.net.groups()
    }

    fn submit(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        self.net.submit(batch, logits);
    }

    fn finish(&mut self, logits: &mut Logits) {
        self.net.finish(logits);
    }

    fn traffic(&self) -> Option<Traffic> {
        self.net.traffic()
    }

    fn fork(&self) -> Box<dyn Network> {
        Box::new(self.clone())
    }
}

impl Clone for FrozenNet {
    fn clone(&self) -> FrozenNet {
        FrozenNet { net: self.net.fork(), ..*self }
    }
}

fn packed<N: Numbers>(numbers: N, weights: &Weights) -> Box<dyn Network> {
    Box::new(Runner::new(Arc::new(Packed::new(numbers, weights))))
}

/// The type of numbers in which a kernel computes a network.
trait Numbers: Copy + Send + Sync + 'static {
    /// The rows of the first layer.
    type Rows: Send + Sync;
    /// The weights of a product.
    type Layer: Send + Sync;
    /// A chunk of the trunk as a product reads it.
    type Inputs: Send;

    fn rows(matrix: &[f32], bias: &[f32]) -> Self::Rows;
    fn layer(matrix: &[f32], bias: &[f32]) -> Self::Layer;
    /// Outputs of a row, padding included.
    fn outputs(layer: &Self::Layer) -> usize;
    /// Buffers for a whole chunk.
    fn inputs(width: usize) -> Self::Inputs;
    /// The ReLU of the bias plus these rows: `[width]`.
    fn sum_rows(self, table: &Self::Rows, rows: &[u32], out: &mut [f32]);
    /// Prepares the trunk, `[rows, width]`, for products.
    fn take(self, trunk: &[f32], width: usize, inputs: &mut Self::Inputs);
    /// The product of the trunk, from which `inputs` were made.
    fn dense(self, layer: &Self::Layer, trunk: &[f32], inputs: &Self::Inputs, epilogue: Epilogue<'_>);
}

/// 32-bit floats.
#[derive(Clone, Copy)]
struct Floats;

impl Numbers for Floats {
    type Rows = FloatRows;
    type Layer = Dense<f32>;
    type Inputs = ();

    fn rows(matrix: &[f32], bias: &[f32]) -> FloatRows {
        FloatRows::pack(matrix, bias)
    }

    fn layer(matrix: &[f32], bias: &[f32]) -> Dense<f32> {
        Dense::floats(matrix, bias)
    }

    fn outputs(layer: &Dense<f32>) -> usize {
        layer.outputs
    }

    fn inputs(_: usize) {}

    fn sum_rows(self, table: &FloatRows, rows: &[u32], out: &mut [f32]) {
        table.sum(rows, out);
    }

    fn take(self, _: &[f32], _: usize, (): &mut ()) {}

    fn dense(self, layer: &Dense<f32>, trunk: &[f32], (): &(), epilogue: Epilogue<'_>) {
        layer.multiply(trunk, epilogue);
    }
}

/// Weights packed for one kernel.
struct Packed<N: Numbers> {
    numbers: N,
    shape: NetShape,
    width: usize,
    stem: N::Rows, // [features, width]
    blocks: Vec<N::Layer>,
    heads: N::Layer, // all of them as one product
}

impl<N: Numbers> Packed<N> {
    fn new(numbers: N, weights: &Weights) -> Packed<N> {
        let block = |index| {
            let [matrix, bias] = weights.layer(&format!("blocks.{index}"));
            N::layer(matrix, bias)
        };
        let (matrix, bias) = weights.heads();
        let [stem, stem_bias] = weights.layer("stem");
        Packed {
            numbers,
            shape: *weights.shape(),
            width: weights.settings().width,
            stem: N::rows(stem, stem_bias),
            blocks: (0..weights.settings().blocks).map(block).collect(),
            heads: N::layer(&matrix, &bias),
        }
    }
}

struct Runner<N: Numbers> {
    net: Arc<Packed<N>>,
    trunk: Aligned<f32>, // [CHUNK, width]
    next: Aligned<f32>,
    inputs: N::Inputs,
}

impl<N: Numbers> Runner<N> {
    fn new(net: Arc<Packed<N>>) -> Runner<N> {
        let size = CHUNK * net.width;
        Runner { trunk: Aligned::new(size), next: Aligned::new(size), inputs: N::inputs(net.width), net }
    }

    /// Evaluates positions `range` of the batch; `out` is `[range, stride]`.
    fn forward(&mut self, batch: &FeatureBatch, range: Range<usize>, out: &mut [f32]) {
        let Packed { numbers, width, .. } = *self.net;
        let size = range.len() * width;
        let (mut trunk, mut next) = (&mut self.trunk[..size], &mut self.next[..size]);
        let inputs = &mut self.inputs;
        for (row, hidden) in range.zip(trunk.chunks_exact_mut(width)) {
            numbers.sum_rows(&self.net.stem, batch.row(row), hidden);
        }
        numbers.take(trunk, width, inputs);
        for block in &self.net.blocks {
            let epilogue = Epilogue::Hidden { residual: trunk, out: next };
            numbers.dense(block, trunk, inputs, epilogue);
            swap(&mut trunk, &mut next);
            numbers.take(trunk, width, inputs);
        }
        numbers.dense(&self.net.heads, trunk, inputs, Epilogue::Sums { out });
    }
}

impl<N: Numbers> Network for Runner<N> {
    fn shape(&self) -> &NetShape {
        &self.net.shape
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        let stride = N::outputs(&self.net.heads);
        logits.shape = self.net.shape;
        logits.stride = stride;
        logits.numbers.resize(batch.len() * stride, 0.0);
        for start in (0..batch.len()).step_by(CHUNK) {
            let end = batch.len().min(start + CHUNK);
            let out = &mut logits.numbers[start * stride..end * stride];
            self.forward(batch, start..end, out);
        }
    }

    fn fork(&self) -> Box<dyn Network> {
        Box::new(Runner::new(Arc::clone(&self.net)))
    }
}
