//! The data that a learner publishes about its run: its settings, its newest network, and signs of life.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::FleetError;
use super::places::PROTOCOL;
use jarmo_core::net::GameVersion;
use jarmo_exact::catalog::GameSettings;
use jarmo_host::program::this_program;
use jarmo_learn::config::Config;

/// The version of how games are played with given settings: self-play, search, and the kernels of networks. It changes
/// when an older worker would play worse games without noticing. Rules, features and the format of networks have
/// versions of their own.
const PLAY: u32 = 1;

/// The settings that a worker needs, by prefix.
const NEEDED: [&str; 5] = ["game.", "net.", "selfplay.", "fleet.games", "run.seed"];

/// The settings of a run, for workers. A worker ignores unknown settings, unless one of the versions differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RunSettings {
    protocol: u32,
    play: u32,
    pub(super) program: String,
    pub(super) run: String, // its identity
    #[serde(default)]
    pub(super) folder: String, // of the run, for `fleet status`
    pub(super) game: GameVersion, // of its network and its samples
    config: BTreeMap<String, String>, // the settings that workers need, as TOML, by their full keys
}

impl RunSettings {
    pub(super) fn new(run: String, folder: String, game: GameVersion, config: &Config) -> RunSettings {
        let is_needed = |key: &str| NEEDED.iter().any(|needed| key.starts_with(needed));
        let needed = config.settings().into_iter().filter(|(key, _)| is_needed(key));
        RunSettings {
            protocol: PROTOCOL,
            play: PLAY,
            program: this_program(),
            run,
            folder,
            game,
            config: needed.map(|(key, value)| (key, value.to_string())).collect(),
        }
    }

    /// The settings, and the names of those that this version does not know and ignores.
    pub(super) fn config(&self) -> Result<(Config, Vec<String>), FleetError> {
        let ours = Config::default();
        let known: BTreeSet<String> = ours.settings().into_iter().map(|(key, _)| key).collect();
        let (settings, unknown): (Vec<_>, Vec<_>) = self.config.iter().partition(|(key, _)| known.contains(*key));
        let settings: Vec<String> = settings.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        let config = ours.with(&settings).map_err(|error| {
            FleetError::new(format!(
                "the learner ({}) has settings that this worker ({}) cannot use: {error}; install the learner's version \
                 here",
                self.program,
                this_program()
            ))
        })?;
        Ok((config, unknown.into_iter().map(|(key, _)| key.clone()).collect()))
    }
}

/// Reads data from another program. Another version may use another format, so the versions are read first. Only a
/// different version is a permanent error.
pub(super) fn read_said<T: DeserializeOwned>(json: &[u8]) -> Result<T, FleetError> {
    #[derive(Deserialize)]
    struct Versions {
        protocol: u32,
        play: Option<u32>,
        program: String,
    }
    let unreadable = |error| FleetError::Transient(format!("it cannot be read: {error}"));
    let Versions { protocol, play, program } = serde_json::from_slice(json).map_err(unreadable)?;
    let versions = [("the fleet's protocol", protocol, PROTOCOL), ("self-play and search", play.unwrap_or(PLAY), PLAY)];
    for (what, theirs, ours) in versions {
        if theirs != ours {
            return Err(FleetError::new(format!(
                "it comes from {program} with version {theirs} of {what}, this is {} with version {ours}; use one \
                 version on all machines",
                this_program()
            )));
        }
    }
    serde_json::from_slice(json).map_err(unreadable)
}

/// The settings of a game's rules, and a temporary file with its board. Dropping the file deletes it.
pub(super) fn with_board(game: &GameVersion) -> Result<(GameSettings, Option<NamedTempFile>), FleetError> {
    let lines: Vec<&str> = game.board.split_whitespace().collect();
    let write = || {
        let file = NamedTempFile::new()?;
        fs::write(&file, format!("name = \"fleet\"\nlines = {lines:?}\n")).map(|()| file)
    };
    let file = (!lines.is_empty()).then(write).transpose();
    let file = file.map_err(|error| FleetError::new(format!("the board: {error}")))?;
    let board = file.as_ref().map(|file| file.path().to_owned());
    let rules = GameSettings { board, ..GameSettings::default() };
    Ok((rules.fitting(&game.game), file)) // a game of another crate may have a board of its own
}

#[cfg(test)]
mod tests {
    use super::*;
    use jarmo_core::games::ConnectFour;

    fn settings() -> RunSettings {
        let game = GameVersion::of(&ConnectFour::new(0));
        RunSettings::new("run".to_owned(), String::new(), game, &Config::default())
    }

    #[test]
    fn a_worker_ignores_and_names_settings_that_it_does_not_know() {
        let mut newer = settings();
        for key in ["selfplay.future", "future.setting"] {
            newer.config.insert(key.to_owned(), "1".to_owned());
        }
        let (config, unknown) = newer.config().unwrap();
        assert_eq!(config.selfplay, Config::default().selfplay);
        assert_eq!(unknown, ["future.setting", "selfplay.future"]);
        let mut json = serde_json::to_value(&newer).unwrap();
        json["future"] = 1.into();
        let read: RunSettings = read_said(&serde_json::to_vec(&json).unwrap()).unwrap();
        assert_eq!(read, newer);
    }

    #[test]
    fn a_worker_that_would_play_otherwise_says_which_version_there_is() {
        for (version, what) in [("protocol", "protocol"), ("play", "search")] {
            let mut json = serde_json::to_value(settings()).unwrap();
            json[version] = 99.into();
            let read = read_said::<RunSettings>(&serde_json::to_vec(&json).unwrap());
            let problem = read.unwrap_err().to_string();
            assert!(problem.contains("version 99"), "{problem}");
            assert!(problem.contains(what), "{problem}");
        }
        let mut strange = settings();
        strange.config.values_mut().for_each(|value| *value = value.replace("gumbel", "future"));
        assert!(strange.config().is_err());
    }
}
