//! What an evaluator's opinion on actions comes to without search.

use crate::game::{Action, Mask};

/// The legal action with the highest logit, the first of equals. `logits` has a number for every
/// action of the game; those of illegal actions are not read.
///
/// # Panics
/// Panics if no action is legal.
pub fn favourite<M: Mask>(legal: &M, logits: &[f32]) -> Action {
    let better = |best: Action, action: Action| {
        if logits[action.index()] > logits[best.index()] {
            action
        } else {
            best
        }
    };
    legal.iter().reduce(better).expect("an action is legal")
}
