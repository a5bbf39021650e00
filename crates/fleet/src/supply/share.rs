//! Which share of the newest samples each key has sent.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// A key limits the others for this long after its last file.
const ACTIVE: Duration = Duration::from_secs(600);

/// The newest samples, as many as the replay buffer holds, by the keys that sent them.
#[derive(Default)]
pub(super) struct Shares {
    capacity: usize,                   // samples
    files: VecDeque<(String, usize)>,  // keys and samples, oldest first
    samples: usize,                    // of these files
    newest: BTreeMap<String, Instant>, // when a key's newest file arrived
}

impl Shares {
    pub(super) fn new(capacity: usize) -> Shares {
        Shares { capacity, ..Shares::default() }
    }

    /// Counts a file, unless its key has sent this share of the samples and another key sends files, too. In a nearly empty
    /// buffer, shares say nothing.
    pub(super) fn admit(&mut self, key: &str, samples: usize, share: f64) -> bool {
        let others = self.newest.iter().any(|(other, last)| other != key && last.elapsed() < ACTIVE);
        let own: usize = self.files.iter().filter(|(sender, _)| sender == key).map(|(_, samples)| samples).sum();
        if others && own as f64 > share * self.samples.max(self.capacity / 10) as f64 {
            return false;
        }
        self.newest.insert(key.to_owned(), Instant::now());
        self.files.push_back((key.to_owned(), samples));
        self.samples += samples;
        while let Some((_, oldest)) = self.files.front()
            && self.samples - oldest >= self.capacity
        {
            self.samples -= oldest;
            self.files.pop_front();
        }
        true
    }
}
