//! A network as the judge of a search, computed by burn: for graphics cards. On the processor the
//! kernels of frozen networks are several times faster.

use super::backprop::Forward;
use super::device::OpenDevice;
use crate::encode::Encode;
use crate::eval::{Evaluation, Evaluator};
use crate::game::Game;
use crate::net::{FeatureBatch, Logits, NetShape, Weights};

/// Positions that keep a card busy.
const BATCH: usize = 4096;

/// Judges positions on a device. It uses no randomness. Clones share the weights.
#[derive(Clone)]
pub struct DeviceEvaluator<G> {
    game: G,
    net: Forward,
    features: FeatureBatch,
    heads: Vec<f32>,
}

impl<G: Encode> DeviceEvaluator<G> {
    /// A network for this game.
    ///
    /// # Panics
    /// Panics if the weights are for another shape.
    pub fn new(game: G, weights: &Weights, device: &OpenDevice) -> DeviceEvaluator<G> {
        let shape = NetShape::of(&game);
        assert_eq!(*weights.shape(), shape, "a network of this game");
        DeviceEvaluator {
            net: Forward::new(weights, device),
            game,
            features: FeatureBatch::new(),
            heads: Vec::new(),
        }
    }
}

impl<G: Encode> Evaluator<G> for DeviceEvaluator<G> {
    fn batch(&self) -> usize {
        BATCH
    }

    fn evaluate(
        &mut self,
        positions: &[<G as Game>::Position],
        _: &[u64],
        logits: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        self.features.clear();
        for position in positions {
            self.features.push(&self.game, position);
        }
        let shape = NetShape::of(&self.game);
        let rows = Logits::from_rows(shape, self.net.logits(&self.features));
        for (row, evaluation) in evaluations.iter_mut().enumerate() {
            logits[row * shape.actions..][..shape.actions].copy_from_slice(rows.policy(row));
            *evaluation = Evaluation::of(rows.value(row, &mut self.heads));
        }
    }
}
