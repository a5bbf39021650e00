//! Evaluates a network whose weights do not change any more, on one core, as fast as it can.

mod conv;
mod mlp;

use std::ops::Range;
use std::sync::Arc;

use super::config::{NetConfig, NetShape, RESULTS};
use super::features::FeatureBatch;
use super::kernel::{Aligned, Dense, Kernel, KernelKind, portable::Portable};
#[cfg(target_arch = "x86_64")]
use super::kernel::{avx2::Avx2, avx512::Avx512, bf16::Avx512Bf16};
use super::logits::Logits;
use super::weights::Weights;
use conv::ConvNet;
use mlp::Mlp;

/// A network ready to evaluate batches of positions. Clones share the weights: one for each thread.
pub struct FrozenNet {
    runner: Box<dyn Run>,
    kind: KernelKind,
    shape: NetShape,
}

impl FrozenNet {
    /// Packs the weights for the fastest kernel of this processor.
    pub fn new(weights: &Weights) -> FrozenNet {
        FrozenNet::with_kernel(weights, KernelKind::best()).expect("an available kernel runs")
    }

    /// Packs the weights for this kernel, if the processor can run it.
    pub fn with_kernel(weights: &Weights, kind: KernelKind) -> Option<FrozenNet> {
        let runner = match kind {
            KernelKind::Portable => runner(Portable, weights),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx2 => runner(Avx2::detect()?, weights),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512 => runner(Avx512::detect()?, weights),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512Bf16 => runner(Avx512Bf16::detect()?, weights),
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

    /// The kernel in use.
    pub fn kernel(&self) -> KernelKind {
        self.kind
    }

    /// What the network takes in and gives out.
    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// Evaluates a batch of positions. The answer for a position is the same bits in every batch.
    ///
    /// # Panics
    /// Panics if a feature is not one of this network's.
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

/// A network packed for one kernel, with its working memory.
trait Run: Send {
    fn run(&mut self, batch: &FeatureBatch, logits: &mut Logits);

    /// The same network with working memory of its own.
    fn fork(&self) -> Box<dyn Run>;
}

fn runner<K: Kernel>(kernel: K, weights: &Weights) -> Box<dyn Run> {
    match weights.config() {
        NetConfig::Mlp { .. } => Box::new(Runner::new(Mlp::pack(kernel, weights))),
        NetConfig::Conv { .. } => Box::new(Runner::new(ConvNet::pack(kernel, weights))),
    }
}

/// A network of one architecture, packed for one kernel.
trait Packed: Send + Sync + 'static {
    type Element: Copy + Default + Send + Sync + 'static;

    fn shape(&self) -> &NetShape;

    /// Numbers of a row of outputs, with padding.
    fn stride(&self) -> usize;

    /// Positions computed together, so that their activations stay near the processor.
    fn chunk(&self) -> usize;

    /// Elements of an activation buffer for one position.
    fn activations(&self) -> usize;

    /// Evaluates positions `range` of the batch; `out` is `[range, stride]`.
    fn forward(
        &self,
        batch: &FeatureBatch,
        range: Range<usize>,
        scratch: &mut Scratch<Self::Element>,
        out: &mut [f32],
    );
}

/// Working memory of one runner.
struct Scratch<E> {
    trunk: Aligned<E>,
    inner: Aligned<E>,
    next: Aligned<E>,
}

struct Runner<N: Packed> {
    net: Arc<N>,
    scratch: Scratch<N::Element>,
}

impl<N: Packed> Runner<N> {
    fn new(net: N) -> Runner<N> {
        Runner::with(Arc::new(net))
    }

    fn with(net: Arc<N>) -> Runner<N> {
        let size = net.chunk() * net.activations();
        let scratch = Scratch {
            trunk: Aligned::new(size),
            inner: Aligned::new(size),
            next: Aligned::new(size),
        };
        Runner { net, scratch }
    }
}

impl<N: Packed> Run for Runner<N> {
    fn run(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        let stride = self.net.stride();
        logits.shape = *self.net.shape();
        logits.stride = stride;
        logits.numbers.resize(batch.len() * stride, 0.0);
        let chunk = self.net.chunk();
        for start in (0..batch.len()).step_by(chunk) {
            let end = batch.len().min(start + chunk);
            let out = &mut logits.numbers[start * stride..end * stride];
            self.net.forward(batch, start..end, &mut self.scratch, out);
        }
    }

    fn fork(&self) -> Box<dyn Run> {
        Box::new(Runner::with(Arc::clone(&self.net)))
    }
}

/// All heads as one product over `taps` parts of `inputs` numbers each.
fn pack_heads<K: Kernel>(weights: &Weights, taps: usize, inputs: usize) -> Dense<K::Element> {
    let shape = weights.shape();
    let heads = [
        ("policy", shape.actions),
        ("result", RESULTS),
        ("score", shape.scores()),
    ];
    let mut bias = Vec::with_capacity(shape.outputs());
    let mut columns = Vec::with_capacity(shape.outputs());
    for (name, outputs) in heads {
        bias.extend_from_slice(weights.get(&format!("{name}.bias")));
        let matrix = weights.get(&format!("{name}.weight"));
        columns.extend((0..outputs).map(|output| (matrix, outputs, output)));
    }
    Dense::pack::<K>(
        (taps, inputs, shape.outputs()),
        |tap, input, output| {
            let (matrix, outputs, output) = columns[output];
            matrix[(tap * inputs + input) * outputs + output]
        },
        &bias,
    )
}
