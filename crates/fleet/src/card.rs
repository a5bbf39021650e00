//! What a worker needs to know about a run.

use serde::{Deserialize, Serialize};

use super::FleetError;
use super::places::PROTOCOL;
use jarmo_core::net::GameVersion;
use jarmo_host::files::{SETTINGS_BYTES, read_text};
use jarmo_host::program::this_program;
use jarmo_learn::config::Config;
use jarmo_learn::observe::FleetReport;

/// The settings of a run, for workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Card {
    protocol: u32,
    program: String,
    /// The identity of the run.
    pub(super) run: String,
    /// What its network and its samples are for.
    pub(super) game: GameVersion,
    /// All settings, as TOML.
    config: String,
    /// The content of the board file, if the run has one.
    pub(super) board: Option<String>,
}

/// The newest network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Newest {
    /// The run that it belongs to.
    pub(super) run: String,
    /// Its learning steps.
    pub(super) step: u64,
    /// Its name in the bucket of networks.
    pub(super) object: String,
}

/// The learner's sign of life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Alive {
    pub(super) run: String,
    pub(super) folder: String,
    /// Its program and version.
    pub(super) program: String,
    /// What it says of the fleet.
    pub(super) report: FleetReport,
}

impl Card {
    pub(super) fn new(run: String, game: GameVersion, config: &Config) -> Result<Card, FleetError> {
        let board = &config.game.board;
        let board = (!board.as_os_str().is_empty()).then(|| read_text(board, SETTINGS_BYTES));
        Ok(Card {
            protocol: PROTOCOL,
            program: this_program(),
            run,
            game,
            config: config.to_toml(),
            board: board.transpose().map_err(FleetError::new)?,
        })
    }

    /// Reads a card. Another version of the program may have written it in another way, so the version is read first.
    pub(super) fn read(bytes: &[u8]) -> Result<Card, FleetError> {
        #[derive(Deserialize)]
        struct Version {
            protocol: u32,
            program: String,
        }
        let unreadable =
            |error| FleetError::new(format!("the settings of the run cannot be read: {error}"));
        let Version { protocol, program } = serde_json::from_slice(bytes).map_err(unreadable)?;
        if protocol != PROTOCOL {
            return Err(FleetError::new(format!(
                "the learner is {program} with version {protocol} of the fleet's protocol, this worker is {} with \
                 version {PROTOCOL}; install the learner's version here",
                this_program()
            )));
        }
        serde_json::from_slice(bytes).map_err(unreadable)
    }

    pub(super) fn config(&self) -> Result<Config, FleetError> {
        Config::from_toml(&self.config).map_err(|error| {
            FleetError::new(format!(
                "the learner ({}) has settings that this worker ({}) does not know: {error}; install the learner's \
                 version here",
                self.program,
                this_program()
            ))
        })
    }
}
