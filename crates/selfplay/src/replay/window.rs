//! The newest samples of a run, in memory. It neither reads nor writes files.

use std::collections::VecDeque;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::samples::{Sample, Samples};
use jarmo_core::numbers::Bounds;
use jarmo_core::random::Stream;

/// Settings of the replay buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySettings {
    /// The number of samples in the replay buffer. Above it the oldest are dropped, one file at a time.
    pub capacity: usize,
}

impl ReplaySettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 1] = [("capacity", Bounds::whole(1, 1_000_000_000))];
}

/// The newest samples, in numbered files.
#[derive(Clone, Debug)]
pub struct Window {
    settings: ReplaySettings,
    files: VecDeque<(u64, Samples)>, // by number
    next: u64,                       // the number of the next file
    total: usize,
}

impl Window {
    /// An empty window. `next` is the number of its first file.
    pub fn new(settings: ReplaySettings, next: u64) -> Window {
        Window { settings, files: VecDeque::new(), next, total: 0 }
    }

    /// Adds samples as a new file.
    pub fn push(&mut self, samples: Samples) {
        if samples.is_empty() {
            return;
        }
        self.total += samples.len();
        self.files.push_back((self.next, samples));
        self.next += 1;
        while let Some((_, oldest)) = self.files.front() {
            let rest = self.total - oldest.len();
            if rest < self.settings.capacity {
                break;
            }
            self.total = rest;
            self.files.pop_front();
        }
    }

    /// Adds a file in front of the others.
    ///
    /// # Panics
    /// Panics unless all others are newer.
    pub fn push_older(&mut self, number: u64, samples: Samples) {
        assert!(number < self.first(), "an older file");
        self.total += samples.len();
        self.files.push_front((number, samples));
    }

    /// The files with their numbers, oldest first.
    pub fn files(&self) -> impl Iterator<Item = &(u64, Samples)> {
        self.files.iter()
    }

    /// The number of the oldest file, or of the next file if there is none.
    pub fn first(&self) -> u64 {
        self.files.front().map_or(self.next, |(number, _)| *number)
    }

    /// The number of the next file.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.total
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Whether there are as many samples as the settings want.
    pub fn is_full(&self) -> bool {
        self.total >= self.settings.capacity
    }

    /// Draws one sample, with replacement.
    ///
    /// # Panics
    /// Panics if there are no samples.
    pub fn draw(&self, stream: &mut Stream) -> Sample<'_> {
        let last = self.total.checked_sub(1).expect("a window with samples");
        let mut place = ((stream.random::<f64>() * self.total as f64) as usize).min(last);
        for (_, samples) in &self.files {
            if place < samples.len() {
                return samples.get(place);
            }
            place -= samples.len();
        }
        unreachable!("the files hold all samples")
    }

    /// All samples, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Sample<'_>> {
        self.files.iter().flat_map(|(_, samples)| samples.iter())
    }
}
