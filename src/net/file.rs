//! Agent files: the weights of a network and a header that says what they are for.
//!
//! The format is safetensors; the header is the JSON text under `jarmo` in its metadata.
//! docs/formats.md describes it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::config::{NetConfig, NetShape};
use super::weights::{Tensor, Weights};
use crate::encode::{ENCODER_VERSION, Encode, WITHOUT_THREATS};
use crate::files::write_whole;

/// The version of the header. Goes up when an older program would misread it.
pub const AGENT_FORMAT: u32 = 1;

const KEY: &str = "jarmo"; // of the header in the metadata

/// What an agent file says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentHeader {
    /// [`AGENT_FORMAT`] of the program that wrote it.
    pub format: u32,
    /// The game it plays.
    pub game: String,
    /// The version of the game's rules that it learned.
    pub rules_version: u32,
    /// The version of the features that it reads.
    pub encoder_version: u32,
    /// The board it plays on, where the game has a choice.
    pub board: String,
    /// The architecture.
    pub net: NetConfig,
    /// What the network takes in and gives out.
    pub shape: NetShape,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Matches that tell how strong it is.
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
    /// Learning steps taken.
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

/// Why an agent file cannot be read, written or used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFileError {
    path: Option<PathBuf>, // if it came from a file
    problem: String,
}

impl AgentFileError {
    /// A problem with the file of this name.
    fn at(path: &Path, problem: impl fmt::Display) -> AgentFileError {
        AgentFileError {
            path: Some(path.to_owned()),
            problem: problem.to_string(),
        }
    }

    /// A problem with what is in a file.
    fn of(problem: impl Into<String>) -> AgentFileError {
        AgentFileError {
            path: None,
            problem: problem.into(),
        }
    }

    /// What is wrong, without the name of the file.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl fmt::Display for AgentFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(out, "{}: ", path.display())?;
        }
        out.write_str(&self.problem)
    }
}

impl std::error::Error for AgentFileError {}

impl AgentFile {
    /// A file for these weights, made by this program for this game.
    ///
    /// # Panics
    /// Panics if the weights are for another game.
    pub fn new<G: Encode>(
        game: &G,
        weights: Weights,
        provenance: Provenance,
        results: Vec<MatchResult>,
    ) -> AgentFile {
        assert_eq!(*weights.shape(), NetShape::of(game), "weights of this game");
        let header = AgentHeader {
            format: AGENT_FORMAT,
            game: game.id().to_owned(),
            rules_version: game.rules_version(),
            encoder_version: ENCODER_VERSION,
            board: game.board_text(),
            net: weights.config(),
            shape: *weights.shape(),
            provenance,
            results,
        };
        AgentFile { header, weights }
    }

    /// The same network with other results in its header.
    #[must_use]
    pub fn with_results(mut self, results: Vec<MatchResult>) -> AgentFile {
        self.header.results = results;
        self
    }

    /// What the file says about itself.
    pub fn header(&self) -> &AgentHeader {
        &self.header
    }

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Reads a file, whatever game it is for.
    pub fn load(path: &Path) -> Result<AgentFile, AgentFileError> {
        if path.is_dir() {
            let problem = format!(
                "a folder, not an agent file; `jarmo export {} --out FILE` makes one of a run",
                path.display()
            );
            return Err(AgentFileError::at(path, problem));
        }
        let bytes = fs::read(path).map_err(|error| AgentFileError::at(path, error))?;
        AgentFile::from_bytes(&bytes).map_err(|error| AgentFileError::at(path, error))
    }

    /// Reads a file and makes sure that it plays this game as this program knows it.
    pub fn load_for<G: Encode>(path: &Path, game: &G) -> Result<AgentFile, AgentFileError> {
        AgentFile::load(path)?
            .for_game(game)
            .map_err(|error| AgentFileError::at(path, error))
    }

    /// The agent as it plays this game; refuses a game, rules, features or a board that the network
    /// was not made for. A network from before the threats gets no weight for them.
    pub fn for_game<G: Encode>(mut self, game: &G) -> Result<AgentFile, AgentFileError> {
        let shape = NetShape::of(game);
        if self.header.encoder_version == WITHOUT_THREATS
            && self.header.shape.planes == game.planes()
        {
            self.weights = self.weights.with_planes(shape.planes);
            self.header.shape = *self.weights.shape();
            self.header.encoder_version = ENCODER_VERSION;
        }
        let header = &self.header;
        let again = "export it again from a run of this version";
        let problem = if header.game != game.id() {
            format!(
                "it plays {}, and {} is wanted; choose a file for {1}",
                header.game,
                game.id()
            )
        } else if header.rules_version != game.rules_version() {
            format!(
                "rules version {} of {}, this program has version {}; {again}",
                header.rules_version,
                game.id(),
                game.rules_version()
            )
        } else if header.encoder_version != ENCODER_VERSION {
            format!(
                "encoder version {}, this program needs {ENCODER_VERSION}; {again}",
                header.encoder_version
            )
        } else if header.board != game.board_text() {
            format!(
                "it was trained on another board, with the lines {}; give that board with --web",
                header.board
            )
        } else if header.shape != shape {
            format!(
                "its network is {:?}, this program's {} needs {shape:?}; {again}",
                header.shape,
                game.id(),
            )
        } else {
            return Ok(self);
        };
        Err(AgentFileError::of(problem))
    }

    /// Writes the file as a whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), AgentFileError> {
        write_whole(path, &self.to_bytes())
            .map_err(|error| AgentFileError::at(path, format_args!("{error}; nothing was written")))
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = serde_json::to_string(&self.header).expect("a header is plain data");
        let bytes: Vec<(&String, &Tensor, Vec<u8>)> = self
            .weights
            .tensors()
            .iter()
            .map(|(name, tensor)| {
                let data = tensor.data.iter();
                (
                    name,
                    tensor,
                    data.flat_map(|number| number.to_le_bytes()).collect(),
                )
            })
            .collect();
        let views = bytes.iter().map(|(name, tensor, data)| {
            let view = TensorView::new(Dtype::F32, tensor.dims.clone(), data);
            (*name, view.expect("four bytes for every number"))
        });
        let metadata = HashMap::from([(KEY.to_owned(), header)]);
        safetensors::serialize(views, Some(metadata)).expect("tensors with different names")
    }

    /// Reads the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<AgentFile, AgentFileError> {
        let broken = |error: safetensors::SafeTensorError| {
            AgentFileError::of(format!("not a whole safetensors file: {error}"))
        };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let header = read_header(&metadata)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let mut numbers = BTreeMap::new();
        for (name, view) in tensors.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(AgentFileError::of(format!(
                    "tensor `{name}` is {:?}; all must be F32",
                    view.dtype()
                )));
            }
            let data = view.data().as_chunks::<4>().0;
            let tensor = Tensor {
                dims: view.shape().to_vec(),
                data: data
                    .iter()
                    .map(|bytes| f32::from_le_bytes(*bytes))
                    .collect(),
            };
            numbers.insert(name.to_owned(), tensor);
        }
        let weights = Weights::new(header.net, header.shape, numbers)
            .map_err(|error| AgentFileError::of(error.to_string()))?;
        Ok(AgentFile { header, weights })
    }
}

fn read_header(metadata: &Metadata) -> Result<AgentHeader, AgentFileError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }

    let text = metadata
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get(KEY))
        .ok_or_else(|| {
            AgentFileError::of(format!(
                "no agent file: its metadata has no `{KEY}`; `jarmo export` writes one"
            ))
        })?;
    let broken = |error| AgentFileError::of(format!("broken header: {error}"));
    let Format { format } = serde_json::from_str(text).map_err(broken)?;
    if format != AGENT_FORMAT {
        return Err(AgentFileError::of(format!(
            "agent format {format}, this program reads {AGENT_FORMAT}; use the version that wrote it"
        )));
    }
    serde_json::from_str(text).map_err(broken)
}
