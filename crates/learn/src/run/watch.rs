//! The receivers of a run's events: its caller, and TensorBoard as long as its file can be written.

use std::fmt::Display;
use std::io;

use crate::TrainError;
use crate::observe::{Event, EventFile};

pub(super) struct Watchers<F> {
    tell: F,
    file: Option<EventFile>, // `None` after an error
}

impl<F: FnMut(Event<'_>)> Watchers<F> {
    /// Watchers with a file for TensorBoard, unless it could not be created.
    pub(super) fn new(tell: F, file: Result<EventFile, TrainError>) -> Watchers<F> {
        let mut watchers = Watchers { tell, file: None };
        match file {
            Ok(file) => watchers.file = Some(file),
            Err(error) => watchers.without_file(&error),
        }
        watchers
    }

    pub(super) fn tell(&mut self, event: Event<'_>) {
        (self.tell)(event);
    }

    /// Writes for TensorBoard. If that fails, the run continues without it.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut EventFile) -> io::Result<()>) {
        if let Some(file) = &mut self.file
            && let Err(error) = write(file)
        {
            let error = format!("{}: {error}", file.path().display());
            self.without_file(&error);
        }
    }

    fn without_file(&mut self, error: &dyn Display) {
        self.file = None;
        self.tell(Event::Warning(format!(
            "TensorBoard's file cannot be written ({error}); the run continues without it"
        )));
    }
}
