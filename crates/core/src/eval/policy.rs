//! The choice of an action by policy alone, without search.

use crate::game::{Action, Mask};

/// The legal action with the highest logit; ties go to the first action. `logits` has a number for every
/// action of the game; those of illegal actions are ignored.
///
/// # Panics
/// Panics if no action is legal.
pub fn favourite<M: Mask>(legal: &M, logits: &[f32]) -> Action {
    let better = |best: Action, action: Action| {
        if logits[action.index()] > logits[best.index()] { action } else { best }
    };
    legal.iter().reduce(better).expect("an action is legal")
}
