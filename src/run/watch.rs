//! The outputs of a run: its caller, and TensorBoard as long as its file can be written.

use std::io;

use crate::observe::{Event, EventFile};

pub(super) struct Watchers<F> {
    tell: F,
    file: Option<EventFile>, // `None` after a write failed
}

impl<F: FnMut(Event<'_>)> Watchers<F> {
    pub(super) fn new(tell: F, file: EventFile) -> Watchers<F> {
        Watchers {
            tell,
            file: Some(file),
        }
    }

    pub(super) fn tell(&mut self, event: Event<'_>) {
        (self.tell)(event);
    }

    /// Writes for TensorBoard. If that fails, the run continues without it.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut EventFile) -> io::Result<()>) {
        if let Some(file) = &mut self.file
            && let Err(error) = write(file)
        {
            self.file = None;
            self.tell(Event::Warning(format!(
                "TensorBoard's file cannot be written ({error}); the run continues without it"
            )));
        }
    }
}
