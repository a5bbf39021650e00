//! Files of games, which workers send to the learner.
//!
//! A file is the project's usual container, compressed as a whole. Floats are stored in planes of bytes, because their
//! high bytes repeat and compress well.

use std::array;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::FleetError;
use jarmo_core::env::SavedGame;
use jarmo_core::net::GameVersion;
use jarmo_core::net::container::{Array, Format, Number, numbers};
use jarmo_learn::run::FileId;
use jarmo_selfplay::selfplay::{Episode, Searched};

/// The most bytes of a file. A message has at most 1 MiB with its headers.
pub const MOST_BYTES: usize = 900_000;

/// A worker sends a file when it has this many samples.
pub(super) const FILE_SAMPLES: usize = 4096;

pub(super) const MOST_PLAIN: usize = 1 << 24; // bytes before compression: what a small message may claim to become
const LEVEL: i32 = 3; // of compression; higher ones save little, because most bytes are the low ones of floats
const FLOAT: usize = size_of::<f32>(); // bytes
const FORMAT: Format = Format { key: "jarmo_games", what: "games", version: 3 };

// The arrays of floats, in the order of the searches.
const POLICY: &str = "policy";
const EXPECTED: &str = "expected"; // win, draw, loss

/// Finished games and where they come from. In the bytes that are sent, the floats of games are in arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameFile<E = Episode> {
    /// The run that they were played for.
    pub run: String,
    /// The game, its rules and its features.
    pub origin: GameVersion,
    /// The worker.
    pub worker: String,
    /// The program and its version.
    pub program: String,
    /// The games.
    pub games: Vec<E>,
}

/// A game without the floats of its searches.
#[derive(Serialize, Deserialize)]
struct Outline {
    game: SavedGame,
    policies: Vec<u16>, // their lengths
    weights: u64,
}

impl GameFile {
    /// The bytes that are sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let GameFile { run, origin, worker, program, games } = self.clone();
        let (mut policy, mut expected) = (Vec::new(), Vec::new()); // bytes
        let outline = |Episode { game, searches, weights }| {
            for search in &searches {
                policy.extend(search.policy.iter().flat_map(|share| share.to_le_bytes()));
                expected.extend(search.expected.iter().flat_map(|chance| chance.to_le_bytes()));
            }
            Outline { game, policies: searches.iter().map(|search| search.policy.len() as u16).collect(), weights }
        };
        let content = GameFile { run, origin, worker, program, games: games.into_iter().map(outline).collect() };
        let arrays = [Array::flat(POLICY, &planes(&policy)), Array::flat(EXPECTED, &planes(&expected))];
        compress(&FORMAT.write(&content, &arrays))
    }

    /// Reads a file from an untrusted sender and checks its form.
    /// [`EpisodeReader`](jarmo_selfplay::selfplay::EpisodeReader) checks whether the games keep the rules.
    pub fn from_bytes(bytes: &[u8]) -> Result<GameFile, FleetError> {
        if bytes.len() > MOST_BYTES {
            let size = bytes.len();
            return Err(FleetError::new(format!("{size} bytes, and a file of games has at most {MOST_BYTES}")));
        }
        let plain = decompress(bytes, MOST_PLAIN)?;
        let (content, arrays) = FORMAT.read(&plain).map_err(FleetError::new)?;
        let GameFile { run, origin, worker, program, games }: GameFile<Outline> = content;
        let floats = |name| numbers(&arrays, name).map(|planes| f32::read(&bytes_of(&planes))).map_err(FleetError::new);
        let (policy, expected) = (floats(POLICY)?, floats(EXPECTED)?);
        let counts = || games.iter().flat_map(|game| &game.policies);
        let in_policies: usize = counts().map(|&count| usize::from(count)).sum();
        if policy.len() != in_policies || expected.len() != 3 * counts().count() {
            return Err(FleetError::new("its arrays do not fit its games"));
        }
        let (mut policy, mut expected) = (policy.into_iter(), expected.into_iter());
        let mut search = |count: u16| Searched {
            policy: policy.by_ref().take(count.into()).collect(),
            expected: array::from_fn(|_| expected.next().expect("as many as searches need")),
        };
        let games = games.into_iter().map(|Outline { game, policies, weights }| Episode {
            game,
            searches: policies.into_iter().map(&mut search).collect(),
            weights,
        });
        Ok(GameFile { run, origin, worker, program, games: games.collect() })
    }

    /// The name of a game: a hash of its start, its actions and its searches. The other data of its file do not count.
    pub(super) fn game_id(Episode { game, searches, .. }: &Episode) -> FileId {
        let mut hash = Xxh3::new();
        hash.update(game.start.as_deref().unwrap_or_default().as_bytes());
        game.actions.iter().for_each(|action| hash.update(&action.to_le_bytes()));
        let shares = searches.iter().flat_map(|search| search.policy.iter().chain(&search.expected));
        shares.for_each(|share| hash.update(&share.to_le_bytes()));
        FileId(hash.digest128())
    }

    /// The name of the file with these bytes.
    pub fn id(bytes: &[u8]) -> FileId {
        FileId(xxh3_128(bytes))
    }
}

pub(super) fn compress(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, LEVEL).expect("memory can be compressed")
}

/// Decompresses data from an untrusted sender.
pub(super) fn decompress(bytes: &[u8], most: usize) -> Result<Vec<u8>, FleetError> {
    if zstd::zstd_safe::find_frame_compressed_size(bytes).ok() != Some(bytes.len()) {
        return Err(FleetError::new("not compressed, or more than that")); // other bytes would give it another name
    }
    let plain = zstd::bulk::decompress(bytes, most);
    plain.map_err(|error| FleetError::new(format!("not compressed: {error}")))
}

/// The bytes of floats in planes: the first bytes of all floats, then the second bytes, and so on, because high bytes
/// are alike. Bytes after the last whole float stay at the end.
pub(super) fn planes(bytes: &[u8]) -> Vec<u8> {
    let (floats, rest) = bytes.as_chunks::<FLOAT>();
    let plane = |byte| floats.iter().map(move |float: &[u8; FLOAT]| float[byte]);
    (0..FLOAT).flat_map(plane).chain(rest.iter().copied()).collect()
}

/// The inverse of [`planes`].
pub(super) fn bytes_of(planes: &[u8]) -> Vec<u8> {
    let floats = planes.len() / FLOAT;
    let (whole, rest) = planes.split_at(FLOAT * floats);
    let bytes = (0..whole.len()).map(|place| whole[place % FLOAT * floats + place / FLOAT]);
    bytes.chain(rest.iter().copied()).collect()
}
