//! A network as the evaluator of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{FeatureBatch, FrozenNet, Logits, NetShape, Weights};
use crate::encode::Encode;
use crate::eval::{Evaluation, Evaluator};

/// A network that evaluates batches of positions, on a processor or a graphics card.
pub trait Network {
    /// The preferred number of positions in a batch.
    const BATCH: usize;

    /// The inputs and outputs of the network.
    fn shape(&self) -> &NetShape;

    /// Evaluates a batch of positions. The result is deterministic.
    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits);
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
    /// A network for this game, on the fastest kernel of this processor.
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

impl<G: Encode, N: Network + Send> Evaluator<G> for NetEvaluator<G, N> {
    fn batch(&self) -> usize {
        N::BATCH
    }

    fn evaluate(&mut self, positions: &[G::Position], _: &[u64], logits: &mut [f32], evaluations: &mut [Evaluation]) {
        let start = self.stopwatch.as_ref().map(|watch| (watch.now)());
        self.features.clear();
        for position in positions {
            self.features.push(&self.game, position);
        }
        let between = self.stopwatch.as_ref().map(|watch| (watch.now)());
        self.net.evaluate(&self.features, &mut self.logits);
        let actions = self.net.shape().actions;
        for (row, evaluation) in evaluations.iter_mut().enumerate() {
            logits[row * actions..][..actions].copy_from_slice(self.logits.policy(row));
            *evaluation = Evaluation::of(self.logits.value(row, &mut self.heads));
        }
        if let (Some(Stopwatch { now, spent }), Some(start), Some(between)) = (&self.stopwatch, start, between) {
            spent[0].fetch_add(between - start, Ordering::Relaxed);
            spent[1].fetch_add(now() - between, Ordering::Relaxed);
        }
    }
}
