//! The outputs of a run: its caller, and TensorBoard as long as its file can be written.

use std::fmt::Display;
use std::io;

use super::RunError;
use crate::observe::{Event, EventFile, FleetReport};

pub(super) struct Watchers<F> {
    tell: F,
    file: Option<EventFile>, // `None` after an error
    fleet: FleetReport,      // told last
}

impl<F: FnMut(Event<'_>)> Watchers<F> {
    /// Watchers with a file for TensorBoard, unless it could not be created.
    pub(super) fn new(tell: F, file: Result<EventFile, RunError>) -> Watchers<F> {
        let mut watchers = Watchers {
            tell,
            file: None,
            fleet: FleetReport::default(),
        };
        match file {
            Ok(file) => watchers.file = Some(file),
            Err(error) => watchers.without_file(&error),
        }
        watchers
    }

    pub(super) fn tell(&mut self, event: Event<'_>) {
        (self.tell)(event);
    }

    /// Tells what the fleet does, and returns what was told. Speeds and ages since the last line of metrics say nothing
    /// while that line is only seconds old; those that were told before are told again.
    pub(super) fn tell_fleet(&mut self, mut report: FleetReport, seconds: f64) -> &FleetReport {
        const LEAST_SECONDS: f64 = 5.0;
        if seconds < LEAST_SECONDS && self.fleet.files > 0 {
            report = FleetReport {
                age: self.fleet.age,
                oldest: self.fleet.oldest,
                samples_per_s: self.fleet.samples_per_s,
                bytes_per_s: self.fleet.bytes_per_s,
                ..report
            };
        }
        self.fleet = report;
        (self.tell)(Event::Fleet(&self.fleet));
        &self.fleet
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
