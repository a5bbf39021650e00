//! An evaluator without any knowledge.

use super::{Evaluation, Evaluator, Value};
use crate::game::Game;

/// Evaluates every position as even and every action as equally likely. A baseline for search alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<G: Game> Evaluator<G> for Uniform {
    fn has_policy(&self) -> bool {
        false
    }

    fn evaluate(&mut self, _: &[G::Position], _: &[u64], _: &mut [f32], evaluations: &mut [Evaluation]) {
        evaluations.fill(Evaluation::of(Value::EVEN));
    }
}
