//! Samples as a file with a version and a checksum. Reading checks everything, because the file may be damaged or
//! come from elsewhere.

use serde::{Deserialize, Serialize};

use super::samples::Samples;
use jarmo_core::error::FileError;
use jarmo_core::net::container::{Array, Format, numbers};
use jarmo_core::net::{GameVersion, RESULTS};

const FORMAT: Format = Format { key: "jarmo_replay", what: "samples", version: 4 };

#[derive(Serialize, Deserialize)]
struct ReplayHeader {
    origin: GameVersion,
    samples: usize,
}

impl Samples {
    /// The content of a replay file.
    pub fn to_bytes(&self, origin: &GameVersion) -> Vec<u8> {
        let header = ReplayHeader { origin: origin.clone(), samples: self.len() };
        let arrays = [
            Array::flat("features", &self.features),
            Array::flat("feature_ends", &self.feature_ends),
            Array::flat("actions", &self.actions),
            Array::flat("policy", &self.policy),
            Array::flat("action_ends", &self.action_ends),
            Array::flat("results", &self.results),
            Array::flat("scores", &self.scores),
        ];
        FORMAT.write(&header, &arrays)
    }

    /// Reads a replay file and checks everything that the use of its samples relies on.
    pub fn from_bytes(bytes: &[u8], origin: &GameVersion) -> Result<Samples, FileError> {
        let (header, arrays) = FORMAT.read::<ReplayHeader>(bytes)?;
        header.origin.check(origin)?;
        let samples = Samples {
            features: numbers(&arrays, "features")?,
            feature_ends: numbers(&arrays, "feature_ends")?,
            actions: numbers(&arrays, "actions")?,
            policy: numbers(&arrays, "policy")?,
            action_ends: numbers(&arrays, "action_ends")?,
            results: numbers(&arrays, "results")?,
            scores: numbers(&arrays, "scores")?,
        };
        if !samples.fit(&header) {
            return Err("its numbers are no samples of this game".to_owned().into());
        }
        Ok(samples)
    }

    /// Whether the samples are complete, and could be used to train a network for the game and version of `origin`.
    fn fit(&self, header: &ReplayHeader) -> bool {
        let lengths =
            [self.feature_ends.len(), self.action_ends.len(), self.results.len() / RESULTS, self.scores.len()];
        let shape = &header.origin.shape;
        let points = shape.points as i64;
        let below = |indices: &[u16], end: usize| indices.iter().all(|&i| usize::from(i) < end);
        let are_shares = |shares: &[f32]| shares.iter().all(|p| (0.0..=1.0).contains(p));
        lengths.iter().all(|&length| length == header.samples)
            && are_ends(&self.feature_ends, self.features.len())
            && are_ends(&self.action_ends, self.actions.len())
            && self.results.len().is_multiple_of(RESULTS)
            && self.policy.len() == self.actions.len()
            && below(&self.features, shape.features)
            && below(&self.actions, shape.actions)
            && are_shares(&self.policy)
            && are_shares(&self.results)
            && self.scores.iter().all(|&s| i64::from(s).abs() <= points)
    }
}

/// Whether these numbers are the ends of consecutive lists with `length` elements together.
fn are_ends(ends: &[u32], length: usize) -> bool {
    ends.is_sorted() && ends.last().map_or(0, |&end| end as usize) == length
}
