//! The memory of an agent between its decisions in a game.

use std::any::Any;

/// What an agent keeps from one decision to the next in the same game. The caller holds one per game and
/// agent. Other agents ignore it.
#[derive(Default)]
pub struct Memory(Option<Box<dyn Any + Send>>);

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Takes out the content if it has this type.
    pub(super) fn take<T: Any + Send>(&mut self) -> Option<T> {
        let kept = self.0.take()?.downcast().ok()?;
        Some(*kept)
    }

    /// Replaces the content.
    pub(super) fn keep<T: Any + Send>(&mut self, kept: T) {
        self.0 = Some(Box::new(kept));
    }
}
