//! Evaluates a network whose weights do not change any more, on one core, as fast as it can.

mod conv;
mod mlp;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::config::{NetConfig, NetShape, RESULTS};
use super::features::FeatureBatch;
use super::kernel::{Aligned, Dense, Kernel, portable::Portable};
#[cfg(target_arch = "x86_64")]
use super::kernel::{amx::AmxBf16, avx2::Avx2, avx512::Avx512, bf16::Avx512Bf16};
use super::softmax::softmax;
use super::weights::Weights;
use crate::eval::Value;
use conv::ConvNet;
use mlp::Mlp;

/// The kinds of kernels, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelKind {
    /// Plain code for every machine.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512.
    Avx512,
    /// AVX-512 with products of bf16 numbers: about one part in 200 off the others' answers.
    Avx512Bf16,
    /// AMX with products of bf16 numbers, on Linux: as far off as AVX-512 with bf16. Tested in an
    /// emulator, not timed.
    AmxBf16,
}

impl KernelKind {
    /// All kinds, slowest first.
    pub const ALL: [KernelKind; 5] = [
        KernelKind::Portable,
        KernelKind::Avx2,
        KernelKind::Avx512,
        KernelKind::Avx512Bf16,
        KernelKind::AmxBf16,
    ];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            KernelKind::Portable => "portable",
            KernelKind::Avx2 => "avx2",
            KernelKind::Avx512 => "avx512",
            KernelKind::Avx512Bf16 => "avx512-bf16",
            KernelKind::AmxBf16 => "amx-bf16",
        }
    }

    /// Those that this processor can run, slowest first.
    pub fn available() -> Vec<KernelKind> {
        KernelKind::ALL
            .into_iter()
            .filter(|kind| kind.runs_here())
            .collect()
    }

    /// The fastest that this processor can run.
    pub fn best() -> KernelKind {
        let available = KernelKind::available();
        *available.last().expect("plain code runs everywhere")
    }

    fn runs_here(self) -> bool {
        match self {
            KernelKind::Portable => true,
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512 => Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512Bf16 => Avx512Bf16::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            KernelKind::AmxBf16 => AmxBf16::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

impl fmt::Display for KernelKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for KernelKind {
    type Err = String;

    fn from_str(text: &str) -> Result<KernelKind, String> {
        KernelKind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| {
                let names = KernelKind::ALL.map(KernelKind::name).join(", ");
                format!("no kernel is called `{text}`; there are {names}")
            })
    }
}

/// What a network says about a batch of positions, before any masking.
#[derive(Clone, Debug)]
pub struct Logits {
    shape: NetShape,
    stride: usize,     // numbers from one row to the next
    numbers: Vec<f32>, // [positions, stride]: policy, result, score, padding
}

impl Logits {
    /// Room for a network of this shape.
    pub fn new(shape: NetShape) -> Logits {
        Logits {
            shape,
            stride: 0,
            numbers: Vec::new(),
        }
    }

    /// Rows that somebody else computed: policy, result and score of each, `[rows, outputs]`.
    ///
    /// # Panics
    /// Panics if these are no whole rows.
    pub fn from_rows(shape: NetShape, numbers: Vec<f32>) -> Logits {
        let stride = shape.outputs();
        assert_eq!(numbers.len() % stride, 0, "whole rows");
        Logits {
            shape,
            stride,
            numbers,
        }
    }

    /// The value of a row for the player to move. `heads` is room to work in.
    pub fn value(&self, row: usize, heads: &mut Vec<f32>) -> Value {
        heads.clear();
        heads.extend_from_slice(self.result(row));
        softmax(heads);
        let [win, draw, loss] = heads[..] else {
            unreachable!("three results");
        };
        heads.clear();
        heads.extend_from_slice(self.score(row));
        softmax(heads);
        let worst = -(self.shape.points as f32);
        let shares = heads.iter().zip(0_u16..);
        let score = shares
            .map(|(share, place)| share * (worst + f32::from(place)))
            .sum();
        Value {
            win,
            draw,
            loss,
            score,
        }
    }

    /// One number for every action index, legal or not.
    #[inline]
    pub fn policy(&self, row: usize) -> &[f32] {
        &self.row(row)[..self.shape.actions]
    }

    /// Win, draw and loss of the player to move.
    #[inline]
    pub fn result(&self, row: usize) -> &[f32] {
        &self.row(row)[self.shape.actions..][..RESULTS]
    }

    /// The score differences of the player to move, from the worst to the best; none in games
    /// without points.
    #[inline]
    pub fn score(&self, row: usize) -> &[f32] {
        &self.row(row)[self.shape.actions + RESULTS..self.shape.outputs()]
    }

    #[inline]
    fn row(&self, row: usize) -> &[f32] {
        &self.numbers[row * self.stride..][..self.stride]
    }
}

/// A network ready to evaluate batches of positions. Clones share the weights: one for each thread.
pub struct FrozenNet {
    runner: Box<dyn Run>,
    kind: KernelKind,
    shape: NetShape,
}

impl FrozenNet {
    /// Packs the weights for the fastest kernel of this processor.
    pub fn new(weights: &Weights) -> FrozenNet {
        let available = KernelKind::available();
        let best = *available
            .last()
            .expect("the portable kernel is always there");
        FrozenNet::with_kernel(weights, best).expect("an available kernel runs")
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
            #[cfg(target_arch = "x86_64")]
            KernelKind::AmxBf16 => runner(AmxBf16::detect()?, weights),
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
