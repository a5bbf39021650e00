//! A frozen network as the judge of a search.

use super::{AgentFile, FeatureBatch, FrozenNet, Logits, NetShape, Weights, softmax};
use crate::encode::Encode;
use crate::eval::{Evaluation, Evaluator, Value};

/// Positions that fill the kernels well.
const BATCH: usize = 256;

/// Judges positions with a frozen network. It uses no randomness. Clones share the weights: one for
/// each thread.
#[derive(Clone)]
pub struct NetEvaluator<G> {
    game: G,
    net: FrozenNet,
    features: FeatureBatch,
    logits: Logits,
    heads: Vec<f32>, // of one position, as probabilities
}

impl<G: Encode> NetEvaluator<G> {
    /// The network of a file that was checked for this game.
    pub fn from_file(game: G, file: &AgentFile) -> NetEvaluator<G> {
        NetEvaluator::new(game, file.weights())
    }

    /// A network for this game, on the fastest kernel of this processor.
    ///
    /// # Panics
    /// Panics if the weights are for another shape.
    pub fn new(game: G, weights: &Weights) -> NetEvaluator<G> {
        NetEvaluator::with_net(game, FrozenNet::new(weights))
    }

    /// A frozen network for this game.
    ///
    /// # Panics
    /// Panics if the network is for another shape.
    pub fn with_net(game: G, net: FrozenNet) -> NetEvaluator<G> {
        assert_eq!(*net.shape(), NetShape::of(&game), "a network of this game");
        NetEvaluator {
            logits: Logits::new(*net.shape()),
            game,
            net,
            features: FeatureBatch::new(),
            heads: Vec::new(),
        }
    }

    /// The value of a row of logits, for the player to move.
    fn value(&mut self, row: usize) -> Value {
        self.heads.clear();
        self.heads.extend_from_slice(self.logits.result(row));
        softmax(&mut self.heads);
        let [win, draw, loss] = self.heads[..] else {
            unreachable!("three results");
        };
        self.heads.clear();
        self.heads.extend_from_slice(self.logits.score(row));
        softmax(&mut self.heads);
        let worst = -(self.net.shape().points as f32);
        let shares = self.heads.iter().zip(0_u16..);
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
}

impl<G: Encode> Evaluator<G> for NetEvaluator<G> {
    fn batch(&self) -> usize {
        BATCH
    }

    fn evaluate(
        &mut self,
        positions: &[G::Position],
        _: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        self.features.clear();
        for position in positions {
            self.features.push(&self.game, position);
        }
        self.net.evaluate(&self.features, &mut self.logits);
        let actions = self.net.shape().actions;
        for (row, evaluation) in evaluations.iter_mut().enumerate() {
            logits[row * actions..][..actions].copy_from_slice(self.logits.policy(row));
            *evaluation = Evaluation::of(self.value(row));
        }
    }
}
