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

    /// How many groups of trees a search thread should grow in turn: more than one if a device computes the leaves of
    /// one group while the thread grows the trees of another. Batches then list the legal actions, and the logits of
    /// other actions can be anything.
    fn groups(&self) -> usize {
        1
    }

    /// Evaluates a batch of positions. The result is deterministic.
    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits);

    /// Starts to evaluate a batch; [`Network::finish`] waits for its logits. On a CPU everything is computed here.
    fn submit(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        self.evaluate(batch, logits);
    }

    /// Waits for the logits of the submitted batch.
    fn finish(&mut self, _logits: &mut Logits) {}

    /// What moved between the network and its device so far, if that is not the CPU.
    fn traffic(&self) -> Option<Traffic> {
        None
    }

    /// The same network with working memory of its own, for another thread.
    fn fork(&self) -> Box<dyn Network>;
}

/// Counts of what a network exchanged with its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Batches. Each is read back once, which is the only time that a thread waits for the device.
    pub batches: u64,
    /// Positions.
    pub positions: u64,
    /// Bytes uploaded.
    pub uploaded: u64,
    /// Bytes read back.
    pub read: u64,
    /// Kernels launched by the operations in these batches; 0 for a custom network, whose operations are unknown.
    pub kernels: u64,
    /// Nanoseconds in which at least one batch was at the device.
    pub busy: u64,
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

    fn time(&self) -> Option<u64> {
        self.stopwatch.as_ref().map(|watch| (watch.now)())
    }

    /// Adds a span of time to a counter.
    fn count(&self, part: usize, start: Option<u64>, end: Option<u64>) {
        if let (Some(watch), Some(start), Some(end)) = (&self.stopwatch, start, end) {
            watch.spent[part].fetch_add(end - start, Ordering::Relaxed);
        }
    }
}

impl<G: Encode, N: Network> Evaluator<G> for NetEvaluator<G, N> {
    fn batch(&self) -> usize {
        self.net.batch()
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        self.submit(batch);
        self.finish(batch);
    }

    fn submit(&mut self, batch: &mut EvalBatch<G::Position>) {
        let start = self.time();
        self.features.clear();
        let needs_legal = self.net.groups() > 1; // a device sends back the logits of legal actions alone
        for position in batch.positions() {
            self.features.push(&self.game, position);
            if needs_legal {
                self.features.push_legal(&self.game.legal(position));
            }
        }
        let between = self.time();
        self.net.submit(&self.features, &mut self.logits);
        self.count(0, start, between);
        self.count(1, between, self.time());
    }

    fn finish(&mut self, batch: &mut EvalBatch<G::Position>) {
        let start = self.time();
        self.net.finish(&mut self.logits);
        for (index, row) in batch.rows().enumerate() {
            row.logits.copy_from_slice(self.logits.policy(index));
            *row.evaluation = Evaluation::of(self.logits.value(index, &mut self.heads));
        }
        self.count(1, start, self.time());
    }
}
