//! Samples as a file: versioned, checksummed, and never trusted.

use std::collections::HashMap;
use std::fmt;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::samples::Samples;
use crate::encode::{ENCODER_VERSION, Encode};
use crate::net::RESULTS;

/// The version of replay files. Goes up when an older program would misread them.
pub const SHARD_FORMAT: u32 = 2;

const KEY: &str = "jarmo_replay"; // of the header in the metadata

/// What samples belong to: they mean nothing to any other game, rules or features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardOrigin {
    /// The game.
    pub game: String,
    /// The version of its rules.
    pub rules_version: u32,
    /// The version of the features.
    pub encoder_version: u32,
    /// The board, where the game has a choice.
    pub board: String,
    /// How many features there are.
    pub features: usize,
    /// How many actions there are.
    pub actions: usize,
    /// The largest score difference.
    pub points: usize,
}

impl ShardOrigin {
    /// Of samples of this game as this program plays it.
    pub fn of<G: Encode>(game: &G) -> ShardOrigin {
        ShardOrigin {
            game: game.id().to_owned(),
            rules_version: game.rules_version(),
            encoder_version: ENCODER_VERSION,
            board: game.board_text(),
            features: game.input_count(),
            actions: game.actions(),
            points: usize::from(game.most_points()),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    origin: ShardOrigin,
    samples: usize,
    crc32: u32, // of all arrays, in the order of `arrays`
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
    pub fn to_bytes(&self, origin: &ShardOrigin) -> Vec<u8> {
        let arrays = self.arrays();
        let mut checksum = crc32fast::Hasher::new();
        for (_, _, bytes) in &arrays {
            checksum.update(bytes);
        }
        let header = Header {
            format: SHARD_FORMAT,
            origin: origin.clone(),
            samples: self.len(),
            crc32: checksum.finalize(),
        };
        let header = serde_json::to_string(&header).expect("a header is plain data");
        let views = arrays.iter().map(|(name, dtype, bytes)| {
            let count = bytes.len() / (dtype.bitsize() / 8);
            let view = TensorView::new(*dtype, vec![count], bytes);
            (*name, view.expect("whole numbers of bytes"))
        });
        let metadata = HashMap::from([(KEY.to_owned(), header)]);
        safetensors::serialize(views, Some(metadata)).expect("arrays with different names")
    }

    /// Reads a replay file and checks everything that reading its samples relies on.
    pub fn from_bytes(bytes: &[u8], origin: &ShardOrigin) -> Result<Samples, ShardError> {
        let broken =
            |error: safetensors::SafeTensorError| ShardError(format!("not a whole file: {error}"));
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let text = metadata
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(KEY))
            .ok_or_else(|| ShardError("it holds no samples".to_owned()))?;
        let header: Header = serde_json::from_str(text)
            .map_err(|error| ShardError(format!("broken header: {error}")))?;
        if header.format != SHARD_FORMAT {
            return Err(ShardError(format!(
                "replay format {}, this program reads {SHARD_FORMAT}",
                header.format
            )));
        }
        if header.origin != *origin {
            return Err(ShardError(format!(
                "samples of {} (rules version {}, encoder version {}), not of {} ({}, {}) on this board",
                header.origin.game,
                header.origin.rules_version,
                header.origin.encoder_version,
                origin.game,
                origin.rules_version,
                origin.encoder_version
            )));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let samples = Samples {
            features: array(&tensors, "features", Dtype::U16, u16::from_le_bytes)?,
            feature_ends: array(&tensors, "feature_ends", Dtype::U32, u32::from_le_bytes)?,
            actions: array(&tensors, "actions", Dtype::U16, u16::from_le_bytes)?,
            policy: array(&tensors, "policy", Dtype::F32, f32::from_le_bytes)?,
            action_ends: array(&tensors, "action_ends", Dtype::U32, u32::from_le_bytes)?,
            verdicts: array(&tensors, "verdicts", Dtype::U8, u8::from_le_bytes)?,
            results: array(&tensors, "results", Dtype::F32, f32::from_le_bytes)?,
            scores: array(&tensors, "scores", Dtype::I8, i8::from_le_bytes)?,
            plies_left: array(&tensors, "plies_left", Dtype::U16, u16::from_le_bytes)?,
            surprises: array(&tensors, "surprises", Dtype::F32, f32::from_le_bytes)?,
        };
        let mut checksum = crc32fast::Hasher::new();
        for (_, _, bytes) in samples.arrays() {
            checksum.update(&bytes);
        }
        if checksum.finalize() != header.crc32 {
            return Err(ShardError("its checksum does not fit".to_owned()));
        }
        samples.check(&header)?;
        Ok(samples)
    }

    /// Every array with its name, type and bytes.
    fn arrays(&self) -> [(&'static str, Dtype, Vec<u8>); 10] {
        fn bytes<T: Copy, const N: usize>(numbers: &[T], to: fn(T) -> [u8; N]) -> Vec<u8> {
            numbers.iter().flat_map(|&number| to(number)).collect()
        }
        let (u16s, u32s, f32s) = (u16::to_le_bytes, u32::to_le_bytes, f32::to_le_bytes);
        [
            ("features", Dtype::U16, bytes(&self.features, u16s)),
            ("feature_ends", Dtype::U32, bytes(&self.feature_ends, u32s)),
            ("actions", Dtype::U16, bytes(&self.actions, u16s)),
            ("policy", Dtype::F32, bytes(&self.policy, f32s)),
            ("action_ends", Dtype::U32, bytes(&self.action_ends, u32s)),
            ("verdicts", Dtype::U8, self.verdicts.clone()),
            ("results", Dtype::F32, bytes(&self.results, f32s)),
            ("scores", Dtype::I8, bytes(&self.scores, i8::to_le_bytes)),
            ("plies_left", Dtype::U16, bytes(&self.plies_left, u16s)),
            ("surprises", Dtype::F32, bytes(&self.surprises, f32s)),
        ]
    }

    /// Refuses samples that are not whole, or that no network of their origin could learn from.
    fn check(&self, header: &Header) -> Result<(), ShardError> {
        let count = header.samples;
        let lengths = [
            self.feature_ends.len(),
            self.action_ends.len(),
            self.verdicts.len(),
            self.results.len() / RESULTS,
            self.scores.len(),
            self.plies_left.len(),
            self.surprises.len(),
        ];
        let origin = &header.origin;
        let points = origin.points as i64;
        let whole = lengths.iter().all(|&length| length == count)
            && are_ends(&self.feature_ends, self.features.len())
            && are_ends(&self.action_ends, self.actions.len())
            && self.results.len().is_multiple_of(RESULTS)
            && self.policy.len() == self.actions.len();
        let possible = self
            .features
            .iter()
            .all(|&f| usize::from(f) < origin.features)
            && self
                .actions
                .iter()
                .all(|&a| usize::from(a) < origin.actions)
            && self.policy.iter().all(|&p| (0.0..=1.0).contains(&p))
            && self.verdicts.iter().all(|&verdict| verdict <= 2)
            && self.results.iter().all(|&p| (0.0..=1.0).contains(&p))
            && self.scores.iter().all(|&s| i64::from(s).abs() <= points)
            && self.surprises.iter().all(|&s| s.is_finite() && s >= 0.0);
        if whole && possible {
            return Ok(());
        }
        Err(ShardError(
            "its numbers are no samples of this game".to_owned(),
        ))
    }
}

/// Whether these are the ends of lists that fill `length` numbers.
fn are_ends(ends: &[u32], length: usize) -> bool {
    ends.is_sorted() && ends.last().map_or(0, |&end| end as usize) == length
}

fn array<T, const N: usize>(
    tensors: &SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
    from: fn([u8; N]) -> T,
) -> Result<Vec<T>, ShardError> {
    let view = tensors
        .tensor(name)
        .map_err(|error| ShardError(format!("array `{name}`: {error}")))?;
    if view.dtype() != dtype {
        return Err(ShardError(format!("array `{name}` is {:?}", view.dtype())));
    }
    let chunks = view.data().as_chunks::<N>().0;
    Ok(chunks.iter().map(|&bytes| from(bytes)).collect())
}
