//! What is said about pairs of games: tasks, agents and answers.

use async_nats::jetstream::object_store::ObjectInfo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::game_file::{MOST_PLAIN, compress, decompress};
use crate::places::PROTOCOL;
use crate::settings::read_said;
use crate::{FleetError, MOST_BYTES};
use jarmo_core::net::{GameVersion, KernelKind};
use jarmo_exact::agent::{self, AgentSource, AgentSpec};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::program::this_program;
use jarmo_host::record::GameRecord;
use jarmo_judge::arena::PairBlock;
use jarmo_learn::run::FileId;

/// What all blocks of a tournament have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Event {
    /// The tournament, as a part of subjects.
    pub(super) tournament: String,
    /// The game that is played.
    pub(super) origin: GameVersion,
    /// The content of the board file, if there is one.
    pub(super) board: Option<String>,
    /// Plies without a capture after which tammi is drawn, if they are not the default.
    pub(super) quiet_limit: Option<u32>,
}

/// A block of pairs, with all that a worker needs to play it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Task {
    /// The number of the block.
    pub(super) number: usize,
    /// What it is a part of.
    #[serde(flatten)]
    pub(super) event: Event,
    /// The bout's two agents.
    pub(super) agents: [NamedAgent; 2],
    /// The games.
    pub(super) block: PairBlock,
}

/// An agent as workers get it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NamedAgent {
    /// Its spec. An agent file is named by its content.
    pub(super) spec: String,
    /// Where its file is, if it has one.
    pub(super) parcel: Option<ObjectInfo>,
}

/// The games of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The number of the block.
    pub(super) number: usize,
    /// Its games; none if the worker could not play them.
    pub(super) games: Vec<GameRecord>,
}

/// The version, beside the content.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    protocol: u32,
    program: String,
    content: T,
}

/// The bytes of a message.
pub(super) fn pack(content: &impl Serialize) -> Result<Vec<u8>, FleetError> {
    let text = serde_json::to_vec(&Envelope { protocol: PROTOCOL, program: this_program(), content });
    let text = text.expect("tasks and answers are plain data");
    let bytes = compress(&text);
    if text.len() > MOST_PLAIN || bytes.len() > MOST_BYTES {
        return Err(FleetError::new(format!("{} bytes of games, and a message has at most {MOST_BYTES}", bytes.len())));
    }
    Ok(bytes)
}

/// Reads a message that anyone may have sent.
pub(super) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FleetError> {
    let envelope: Envelope<T> = read_said(&decompress(bytes, MOST_PLAIN)?)?;
    Ok(envelope.content)
}

impl NamedAgent {
    /// An agent of this machine, for workers. `write` puts a file at the server, under a hash of its content. The kernel
    /// is named, because other kernels give other floats.
    pub(super) fn new<G: CatalogGame>(
        game: &G,
        spec: &AgentSpec,
        write: impl FnOnce(&str, &[u8]) -> Result<ObjectInfo, FleetError>,
    ) -> Result<NamedAgent, FleetError> {
        let wrong = |problem: String| FleetError::new(format!("agent `{spec}`: {problem}"));
        let has_tables = match spec {
            AgentSpec::Uniform(given) | AgentSpec::Rollout(given) => given.tables.is_some(),
            AgentSpec::Network(_, given) => given.tables.is_some(),
            AgentSpec::Random | AgentSpec::Greedy | AgentSpec::AlphaBeta(_) => false,
        };
        if has_tables {
            return Err(wrong(
                "workers do not have this machine's tables; play this match on this machine alone".to_owned(),
            ));
        }
        let AgentSpec::Network(source, given) = spec else {
            return Ok(NamedAgent { spec: spec.to_string(), parcel: None });
        };
        let file = agent::load(source, game).map_err(|error| wrong(error.to_string()))?;
        let bytes = file.to_bytes();
        let name = FileId(xxh3_128(&bytes)).to_string();
        let mut given = given.clone();
        given.kernel = given.kernel.or(Some(KernelKind::best()));
        let source = AgentSource::File(file_name(&name).into());
        Ok(NamedAgent { spec: AgentSpec::Network(source, given).to_string(), parcel: Some(write(&name, &bytes)?) })
    }
}

/// The file name of an agent file with this hash.
pub(super) fn file_name(name: &str) -> String {
    format!("{name}.safetensors")
}

/// The hash in the file name of a shared agent.
pub(super) fn hash_of(source: &AgentSource) -> Option<FileId> {
    let AgentSource::File(path) = source else {
        return None;
    };
    path.to_str()?.strip_suffix(".safetensors")?.parse().ok()
}
