//! What is said about pairs of games: tasks, agents and answers.

use async_nats::jetstream::object_store::ObjectInfo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::game_file::{MOST_PLAIN, compress, decompress};
use crate::places::PROTOCOL;
use crate::settings::read_said;
use crate::{FleetError, GameFile, MOST_BYTES, json};
use jarmo_core::agent::FILE_ENDING;
use jarmo_core::net::{GameVersion, KernelKind};
use jarmo_exact::agent::{self, AgentSource, AgentSpec};
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::program::this_program;
use jarmo_host::record::GameRecord;
use jarmo_judge::arena::PairBlock;
use jarmo_learn::run::FileId;

/// A block of pairs, with all that a worker needs to play it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) number: usize,            // of the block
    pub(crate) tournament: String,       // as a part of subjects
    pub(crate) origin: GameVersion,      // the game that is played
    pub(crate) board: Option<String>,    // the content of the board file
    pub(crate) quiet_limit: Option<u32>, // plies without a capture after which tammi is drawn, if not the default
    pub(crate) agents: [NamedAgent; 2],  // of the bout
    pub(crate) block: PairBlock,
}

/// An agent as workers get it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NamedAgent {
    pub(crate) spec: String,               // an agent file is named by its content
    pub(crate) parcel: Option<ObjectInfo>, // the file
}

/// The games of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) number: usize,          // of the block
    pub(crate) games: Vec<GameRecord>, // none if the worker could not play them
}

/// The version, beside the content.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    protocol: u32,
    program: String,
    content: T,
}

/// The bytes of a message.
pub(crate) fn pack(content: &impl Serialize) -> Result<Vec<u8>, FleetError> {
    let text = json(&Envelope { protocol: PROTOCOL, program: this_program(), content });
    let bytes = compress(text.as_bytes());
    if text.len() > MOST_PLAIN || bytes.len() > MOST_BYTES {
        return Err(FleetError::new(format!("{} bytes of games, and a message has at most {MOST_BYTES}", bytes.len())));
    }
    Ok(bytes)
}

/// Reads a message that anyone may have sent.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FleetError> {
    let envelope: Envelope<T> = read_said(&decompress(bytes, MOST_PLAIN)?)?;
    Ok(envelope.content)
}

impl NamedAgent {
    /// An agent of this machine, for workers. `write` puts a file at the server, under a hash of its content. The kernel
    /// is named, because other kernels give other floats.
    pub(crate) fn new<G: CatalogGame>(
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
            let problem = "workers do not have this machine's tables; play this match on this machine alone";
            return Err(wrong(problem.to_owned()));
        }
        let AgentSpec::Network(source, given) = spec else {
            return Ok(NamedAgent { spec: spec.to_string(), parcel: None });
        };
        let file = agent::load(source, game).map_err(|error| wrong(error.to_string()))?;
        let bytes = file.to_bytes();
        let name = GameFile::id(&bytes).to_string();
        let mut given = given.clone();
        given.kernel = given.kernel.or(Some(KernelKind::best()));
        let source = AgentSource::File((name.clone() + FILE_ENDING).into());
        Ok(NamedAgent { spec: AgentSpec::Network(source, given).to_string(), parcel: Some(write(&name, &bytes)?) })
    }
}

/// The hash in the file name of a shared agent.
pub(crate) fn hash_of(source: &AgentSource) -> Option<FileId> {
    let AgentSource::File(path) = source else {
        return None;
    };
    path.to_str()?.strip_suffix(FILE_ENDING)?.parse().ok()
}
