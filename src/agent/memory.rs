//! What an agent keeps of a game between two of its choices.

use std::any::Any;

/// What an agent keeps from one choice to the next in the same game. Whoever asks an agent holds this for
/// it, one for each game and agent; only the agent that filled it can make use of it.
#[derive(Default)]
pub struct Memory(Option<Box<dyn Any + Send>>);

impl Memory {
    /// A memory of nothing.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Takes out what was kept, if it is of this type.
    pub(super) fn take<T: Any + Send>(&mut self) -> Option<T> {
        let kept = self.0.take()?.downcast().ok()?;
        Some(*kept)
    }

    /// Keeps something in place of what was there.
    pub(super) fn keep<T: Any + Send>(&mut self, kept: T) {
        self.0 = Some(Box::new(kept));
    }
}
