//! A network as the evaluator of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{FeatureBatch, FrozenNet, Logits, NetShape, Weights};
use crate::encode::Encode;
use crate::eval::{EvalBatch, Evaluation, Evaluator};

/// The preferred number of positions in a batch of a network on a CPU. It is small, so that the trees of a batch stay
/// in the CPU's cache: compared with 256, self-play of jarmo searches 1.5 times as many positions, although the network
/// itself becomes 2 to 10 % slower.
pub(super) const BATCH: usize = 16;

/// A network that evaluates batches of positions, on a CPU or a GPU.
pub trait Network: Send {
    /// The inputs and outputs of the network.
    fn shape(&self) -> &NetShape;

    /// The preferred number of positions in a batch.
    fn batch(&self) -> usize {
        BATCH
    }

    /// Evaluates a batch of positions. The result is deterministic.
    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits);

    /// The same network with working memory of its own, for another thread.
    fn fork(&self) -> Box<dyn Network>;
}

/// Counts the time spent on features and on the network.
#[derive(Clone)]
struct Stopwatch {
    now: fn() -> u64, // nanoseconds
    spent: Arc<[AtomicU64; 2]>,
}

/// Evaluates positions with a network. Clones share the weights, so each thread can have one.
#[derive(Clone)]
pub struct NetEvaluator<G, N = FrozenNet> {
    game: G,
    net: N,
    features: FeatureBatch,
    logits: Logits,
    heads: Vec<f32>, // of one position, as probabilities
    stopwatch: Option<Stopwatch>,
}

impl<G: Encode> NetEvaluator<G> {
    /// A network for this game, on the fastest kernel for this CPU.
    ///
    /// # Panics
    /// Panics if the weights are for another shape.
    pub fn new(game: G, weights: &Weights) -> NetEvaluator<G> {
        NetEvaluator::with_net(game, FrozenNet::new(weights))
    }
}

impl<G: Encode, N: Network> NetEvaluator<G, N> {
    /// A network for this game.
    ///
    /// # Panics
    /// Panics if the network is for another shape.
    pub fn with_net(game: G, net: N) -> NetEvaluator<G, N> {
        assert_eq!(*net.shape(), NetShape::of(&game), "the network must fit the game");
        NetEvaluator {
            logits: Logits::new(*net.shape()),
            game,
            net,
            features: FeatureBatch::new(),
            heads: Vec::new(),
            stopwatch: None,
        }
    }

    /// Adds the nanoseconds spent on features and on the network to the counters `spent`; `now` is a clock in nanoseconds.
    #[must_use]
    pub fn with_stopwatch(self, now: fn() -> u64, spent: Arc<[AtomicU64; 2]>) -> NetEvaluator<G, N> {
        NetEvaluator { stopwatch: Some(Stopwatch { now, spent }), ..self }
    }
}

impl<G: Encode, N: Network> Evaluator<G> for NetEvaluator<G, N> {
    fn batch(&self) -> usize {
        self.net.batch()
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        let start = self.stopwatch.as_ref().map(|watch| (watch.now)());
        self.features.clear();
        for position in batch.positions() {
            self.features.push(&self.game, position);
        }
        let between = self.stopwatch.as_ref().map(|watch| (watch.now)());
        self.net.evaluate(&self.features, &mut self.logits);
        for (index, row) in batch.rows().enumerate() {
            row.logits.copy_from_slice(self.logits.policy(index));
            *row.evaluation = Evaluation::of(self.logits.value(index, &mut self.heads));
        }
        if let (Some(Stopwatch { now, spent }), Some(start), Some(between)) = (&self.stopwatch, start, between) {
            spent[0].fetch_add(between - start, Ordering::Relaxed);
            spent[1].fetch_add(now() - between, Ordering::Relaxed);
        }
    }
}
