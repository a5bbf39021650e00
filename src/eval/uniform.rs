//! The evaluator that knows nothing.

use super::{Evaluation, Evaluator, Value};
use crate::game::Game;

/// Judges every position as even and every action as equally likely: what search does on its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<G: Game> Evaluator<G> for Uniform {
    fn has_policy(&self) -> bool {
        false
    }

    fn evaluate(
        &mut self,
        _: &[G::Position],
        _: &[u64],
        _: &mut [f32],
        evaluations: &mut [Evaluation],
    ) {
        evaluations.fill(Evaluation::of(Value::EVEN));
    }
}
