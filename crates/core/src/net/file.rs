//! Agent files: the weights of a network, and a header with its game, origin and results.

use serde::{Deserialize, Serialize};

use super::container::{Array, Format};
use super::custom::NetKind;
use super::version::GameVersion;
use super::weights::Weights;
use crate::encode::Encode;
use crate::error::FileError;

const FORMAT: Format = Format { key: "jarmo", what: "agent", version: 3 };

/// The header of an agent file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentHeader {
    /// The game that it plays.
    #[serde(flatten)]
    pub version: GameVersion,
    /// The network: the size of the built-in one, or the name of another.
    pub net: NetKind,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Results of matches that it has played.
    pub results: Vec<MatchResult>,
}

/// Where a network comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program that wrote the file, with its version.
    pub program: String,
    /// The run that trained it; empty if none did.
    pub run: String,
    /// The seed of that run.
    pub seed: u64,
    /// Training steps taken.
    pub step: u64,
    /// Self-play games that it learned from.
    pub games: u64,
}

/// One match that a network has played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchResult {
    /// The settings it played with, as in an agent spec: `sims=64`.
    pub settings: String,
    /// The spec of the opponent.
    pub opponent: String,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

/// A network with its header.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentFile {
    header: AgentHeader,
    weights: Weights,
}

impl AgentFile {
    /// A file for these weights, made by this program for this game.
    ///
    /// # Panics
    /// Panics if the weights are for another game.
    pub fn new<G: Encode>(game: &G, weights: Weights, provenance: Provenance, results: Vec<MatchResult>) -> AgentFile {
        AgentFile::of_version(GameVersion::of(game), weights, provenance, results)
    }

    /// As [`AgentFile::new`], for the game of this version.
    ///
    /// # Panics
    /// Panics if the weights are for another game.
    pub fn of_version(
        version: GameVersion,
        weights: Weights,
        provenance: Provenance,
        results: Vec<MatchResult>,
    ) -> AgentFile {
        assert_eq!(*weights.shape(), version.shape, "weights of this game");
        let header = AgentHeader { version, net: weights.net().clone(), provenance, results };
        AgentFile { header, weights }
    }

    /// The same agent file with other results in its header.
    #[must_use]
    pub fn with_results(mut self, results: Vec<MatchResult>) -> AgentFile {
        self.header.results = results;
        self
    }

    /// The header of the file.
    pub fn header(&self) -> &AgentHeader {
        &self.header
    }

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The same agent with rounded weights: the weights of each matrix are rounded to multiples of the largest power of
    /// two that is at most their root mean square divided by `steps`. With 64 steps or fewer, the weights of typical
    /// networks then fit into 16 bits. The file is half as large and compresses better.
    #[must_use]
    pub fn rounded(mut self, steps: u16) -> AgentFile {
        for (_, tensor) in self.weights.tensors_mut().filter(|(_, tensor)| tensor.dims.len() > 1) {
            let squares: f64 = tensor.data.iter().map(|&number| f64::from(number).powi(2)).sum();
            let most = (squares / tensor.data.len() as f64).sqrt() as f32 / f32::from(steps);
            let unit = f32::from_bits(most.to_bits() >> 23 << 23); // sign and exponent alone
            if unit.is_normal() {
                tensor.data.iter_mut().for_each(|number| *number = (*number / unit).round_ties_even() * unit);
            }
        }
        self
    }

    /// The agent, checked for this game. Fails if the network was made for another game, other rules, other features or
    /// another board.
    pub fn for_game<G: Encode>(self, game: &G) -> Result<AgentFile, FileError> {
        self.header.version.check(&GameVersion::of(game))?;
        Ok(self)
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays: Vec<Array> = self.weights.to_arrays().collect();
        FORMAT.write(&self.header, &arrays)
    }

    /// Reads the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<AgentFile, FileError> {
        let (header, arrays) = FORMAT.read::<AgentHeader>(bytes)?;
        let weights = Weights::from_arrays(&header.net, header.version.shape, &arrays)?;
        weights.check_range().map_err(|error| error.to_string())?;
        Ok(AgentFile { header, weights })
    }
}
