//! Samples as a file: versioned, checksummed, and never trusted.

use std::fmt;

use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::samples::Samples;
use crate::net::container::{Array, Format, array};
use crate::net::{GameVersion, RESULTS};

const FORMAT: Format = Format {
    key: "jarmo_replay",
    what: "samples",
    version: 3,
};

#[derive(Serialize, Deserialize)]
struct Header {
    origin: GameVersion,
    samples: usize,
    checksum: String, // XXH3-64 of all arrays in the order of `arrays`, in hexadecimal digits
}

/// Why a file of samples is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardError(String);

impl fmt::Display for ShardError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ShardError {}

impl Samples {
    /// The content of a replay file.
    pub fn to_bytes(&self, origin: &GameVersion) -> Vec<u8> {
        let arrays = self.arrays();
        let header = Header {
            origin: origin.clone(),
            samples: self.len(),
            checksum: checksum(&arrays),
        };
        FORMAT.write(&header, &arrays)
    }

    /// Reads a replay file and checks everything that reading its samples relies on.
    pub fn from_bytes(bytes: &[u8], origin: &GameVersion) -> Result<Samples, ShardError> {
        Samples::read(bytes, origin).map_err(ShardError)
    }

    fn read(bytes: &[u8], origin: &GameVersion) -> Result<Samples, String> {
        let (header, arrays) = FORMAT.read::<Header>(bytes)?;
        header.origin.check(origin)?;
        let u16s =
            |name| Ok::<_, String>(array(&arrays, name, (Dtype::U16, u16::from_le_bytes))?.1);
        let u32s =
            |name| Ok::<_, String>(array(&arrays, name, (Dtype::U32, u32::from_le_bytes))?.1);
        let f32s =
            |name| Ok::<_, String>(array(&arrays, name, (Dtype::F32, f32::from_le_bytes))?.1);
        let samples = Samples {
            features: u16s("features")?,
            feature_ends: u32s("feature_ends")?,
            actions: u16s("actions")?,
            policy: f32s("policy")?,
            action_ends: u32s("action_ends")?,
            results: f32s("results")?,
            scores: array(&arrays, "scores", (Dtype::I8, i8::from_le_bytes))?.1,
            surprises: f32s("surprises")?,
        };
        if checksum(&samples.arrays()) != header.checksum {
            return Err("its checksum does not fit".to_owned());
        }
        if !samples.fit(&header) {
            return Err("its numbers are no samples of this game".to_owned());
        }
        Ok(samples)
    }

    fn arrays(&self) -> [Array; 8] {
        fn flat<T: Copy, const N: usize>(
            name: &str,
            format: (Dtype, fn(T) -> [u8; N]),
            numbers: &[T],
        ) -> Array {
            Array::new(name, format, vec![numbers.len()], numbers)
        }
        let u16s = (Dtype::U16, u16::to_le_bytes as fn(u16) -> [u8; 2]);
        let u32s = (Dtype::U32, u32::to_le_bytes as fn(u32) -> [u8; 4]);
        let f32s = (Dtype::F32, f32::to_le_bytes as fn(f32) -> [u8; 4]);
        [
            flat("features", u16s, &self.features),
            flat("feature_ends", u32s, &self.feature_ends),
            flat("actions", u16s, &self.actions),
            flat("policy", f32s, &self.policy),
            flat("action_ends", u32s, &self.action_ends),
            flat("results", f32s, &self.results),
            flat("scores", (Dtype::I8, i8::to_le_bytes), &self.scores),
            flat("surprises", f32s, &self.surprises),
        ]
    }

    /// Whether the samples are whole, and a network of their origin could learn from them.
    fn fit(&self, header: &Header) -> bool {
        let lengths = [
            self.feature_ends.len(),
            self.action_ends.len(),
            self.results.len() / RESULTS,
            self.scores.len(),
            self.surprises.len(),
        ];
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
            && self.surprises.iter().all(|&s| s.is_finite() && s >= 0.0)
    }
}

fn checksum(arrays: &[Array]) -> String {
    let mut checksum = Xxh3::new();
    for array in arrays {
        checksum.update(&array.bytes);
    }
    format!("{:016x}", checksum.digest())
}

/// Whether these are the ends of lists that fill `length` numbers.
fn are_ends(ends: &[u32], length: usize) -> bool {
    ends.is_sorted() && ends.last().map_or(0, |&end| end as usize) == length
}
