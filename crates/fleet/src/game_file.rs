//! Files of games: what workers send.
//!
//! A file is the project's usual container, compressed as a whole. Floats are stored in planes of bytes, because their
//! high bytes repeat and compress well.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::FleetError;
use jarmo_core::env::SavedGame;
use jarmo_core::net::GameVersion;
use jarmo_core::net::container::{Array, Format, numbers};
use jarmo_learn::run::FileId;
use jarmo_selfplay::selfplay::{Episode, Searched};

/// The most bytes of a file. A message has at most 1 MiB with its headers.
pub const MOST_BYTES: usize = 900_000;

/// The most bytes before compression: what a small file or message may claim to become.
pub(super) const MOST_PLAIN: usize = 1 << 24;

/// The level of compression. Higher ones save little, because most bytes are the low ones of floats.
const LEVEL: i32 = 3;

const FORMAT: Format = Format { key: "jarmo_games", what: "games", version: 2 };

/// The expectations of a search: win, draw, loss.
const EXPECTED: usize = 3;

/// Where the games of a file come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameFileHeader {
    /// The run that they were played for.
    pub run: String,
    /// The game, its rules and its features.
    pub origin: GameVersion,
    /// The worker.
    pub worker: String,
    /// The program and its version.
    pub program: String,
}

/// Finished games and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct GameFile {
    /// Where they come from.
    pub header: GameFileHeader,
    /// The games.
    pub games: Vec<Episode>,
}

impl GameFile {
    /// The bytes that are sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let games = &self.games;
        let searches = || games.iter().flat_map(|game| &game.searches);
        let starts: Vec<String> = games.iter().map(|game| game.game.start_text()).collect();
        let policy = searches().flat_map(|search| search.policy.iter().copied());
        let expected = searches().flat_map(|search| search.expected);
        let actions: Vec<u16> = games.iter().flat_map(|game| game.game.actions().iter().copied()).collect();
        let count = |number: usize| number as u32;
        let weights: Vec<[u32; 2]> = games.iter().map(|game| halves(game.weights)).collect();
        let arrays = [
            Array::flat("starts", starts.join("\n").as_bytes()),
            Array::flat("actions", &actions),
            lengths("action_counts", games, |game| count(game.game.actions().len())),
            lengths("search_counts", games, |game| count(game.searches.len())),
            Array::flat("policy_counts", &searches().map(|search| search.policy.len() as u16).collect::<Vec<_>>()),
            Array::flat("policy", &float_planes(policy)),
            Array::flat("expected", &float_planes(expected)),
            Array::flat("weights", &weights.concat()),
        ];
        let plain = FORMAT.write(&self.header, &arrays);
        compress(&plain)
    }

    /// Reads a file that anyone may have sent. Checks its form; whether the games keep the rules is for
    /// [`EpisodeReader`](jarmo_selfplay::selfplay::EpisodeReader).
    pub fn from_bytes(bytes: &[u8]) -> Result<GameFile, FleetError> {
        if bytes.len() > MOST_BYTES {
            return Err(FleetError::new(format!(
                "{} bytes, and a file of games has at most {MOST_BYTES}",
                bytes.len()
            )));
        }
        let plain = decompress(bytes, MOST_PLAIN)?;
        let (header, arrays) = FORMAT.read::<GameFileHeader>(&plain).map_err(FleetError::new)?;
        let games = games_of(&arrays).map_err(FleetError::new)?;
        Ok(GameFile { header, games })
    }

    /// The name of the file with these bytes.
    pub fn id(bytes: &[u8]) -> FileId {
        FileId(xxh3_128(bytes))
    }
}

pub(super) fn compress(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, LEVEL).expect("memory can be compressed")
}

/// Reads what anyone may have compressed.
pub(super) fn decompress(bytes: &[u8], most: usize) -> Result<Vec<u8>, FleetError> {
    let plain = zstd::bulk::decompress(bytes, most);
    plain.map_err(|error| FleetError::new(format!("not compressed: {error}")))
}

fn games_of(arrays: &safetensors::SafeTensors<'_>) -> Result<Vec<Episode>, String> {
    let starts = String::from_utf8(numbers(arrays, "starts")?);
    let starts = starts.map_err(|_| "its start positions are no text")?;
    let actions: Vec<u16> = numbers(arrays, "actions")?;
    let action_counts: Vec<u32> = numbers(arrays, "action_counts")?;
    let search_counts: Vec<u32> = numbers(arrays, "search_counts")?;
    let policy_counts: Vec<u16> = numbers(arrays, "policy_counts")?;
    let policy = floats(&numbers::<u8>(arrays, "policy")?)?;
    let expected = floats(&numbers::<u8>(arrays, "expected")?)?;
    let weights: Vec<u32> = numbers(arrays, "weights")?;
    let unfit = || "its arrays do not fit each other".to_owned();
    let (expected, rest) = expected.as_chunks::<EXPECTED>();
    let (weights, odd) = weights.as_chunks::<2>();
    if !rest.is_empty() || !odd.is_empty() || expected.len() != policy_counts.len() {
        return Err(unfit());
    }
    let mut starts = starts.split('\n');
    let mut actions = Cut(&actions);
    let mut policy = Cut(&policy);
    let mut searches = Cut(&policy_counts);
    let mut expected = Cut(expected);
    let mut games = Vec::new();
    if search_counts.len() != action_counts.len() || weights.len() != action_counts.len() {
        return Err(unfit());
    }
    for ((&plies, &searched), &weights) in action_counts.iter().zip(&search_counts).zip(weights) {
        let start = starts.next().ok_or_else(unfit)?;
        let actions = actions.take(plies as usize).ok_or_else(unfit)?.to_vec();
        let counts = searches.take(searched as usize).ok_or_else(unfit)?;
        let expected = expected.take(searched as usize).ok_or_else(unfit)?;
        let mut game = Vec::with_capacity(counts.len());
        for (&count, &expected) in counts.iter().zip(expected) {
            let policy = policy.take(usize::from(count)).ok_or_else(unfit)?.to_vec();
            game.push(Searched { policy, expected });
        }
        let start = (!start.is_empty()).then(|| start.to_owned());
        games.push(Episode {
            game: SavedGame::new(start, actions),
            searches: game,
            weights: u64::from(weights[0]) << 32 | u64::from(weights[1]),
        });
    }
    let is_whole = actions.0.is_empty() && policy.0.is_empty() && searches.0.is_empty();
    if is_whole { Ok(games) } else { Err(unfit()) }
}

/// A list from which parts are taken in order.
struct Cut<'a, T>(&'a [T]);

impl<'a, T> Cut<'a, T> {
    fn take(&mut self, count: usize) -> Option<&'a [T]> {
        let (part, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(part)
    }
}

fn lengths(name: &str, games: &[Episode], length: impl Fn(&Episode) -> u32) -> Array {
    Array::flat(name, &games.iter().map(length).collect::<Vec<_>>())
}

fn halves(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

/// The bytes of floats, in planes: all first ones, all second ones, and so on, because high bytes are alike.
pub(super) fn planes(bytes: &[u8]) -> Vec<u8> {
    let plane = |byte| bytes.iter().skip(byte).step_by(size_of::<f32>());
    (0..size_of::<f32>()).flat_map(plane).copied().collect()
}

/// The bytes that [`planes`] took.
pub(super) fn bytes_of(planes: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; planes.len()];
    let (whole, rest) = bytes.as_chunks_mut::<{ size_of::<f32>() }>();
    let long = whole.len() + usize::from(!rest.is_empty());
    let mut before = 0;
    for byte in 0..size_of::<f32>() {
        let plane = &planes[before..];
        whole.iter_mut().zip(plane).for_each(|(float, &from)| float[byte] = from);
        before += match rest.get_mut(byte) {
            Some(last) => {
                *last = plane[long - 1];
                long
            }
            None => whole.len(),
        };
    }
    bytes
}

fn float_planes(floats: impl Iterator<Item = f32>) -> Vec<u8> {
    planes(&floats.flat_map(f32::to_le_bytes).collect::<Vec<_>>())
}

fn floats(planes: &[u8]) -> Result<Vec<f32>, String> {
    let bytes = bytes_of(planes);
    let (floats, rest) = bytes.as_chunks();
    match rest.is_empty() {
        true => Ok(floats.iter().copied().map(f32::from_le_bytes).collect()),
        false => Err("its numbers are cut off".to_owned()),
    }
}
