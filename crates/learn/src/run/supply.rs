//! The interface between a run and self-play on other machines: files of samples arrive, and new weights are sent.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::lines::Sent;
use crate::TrainError;
use crate::observe::{FleetCounts, FleetReport};
use jarmo_core::net::AgentFile;
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::Counts;

/// The identity of a file of games: a hash of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileId(pub u128);

impl fmt::Display for FileId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

impl FromStr for FileId {
    type Err = String;

    fn from_str(text: &str) -> Result<FileId, String> {
        let digits = Some(text).filter(|text| text.len() == 32);
        let number = digits.and_then(|text| u128::from_str_radix(text, 16).ok());
        number.map(FileId).ok_or_else(|| "a file of games is named by 32 hexadecimal digits".to_owned())
    }
}

impl TryFrom<String> for FileId {
    type Error = String;

    fn try_from(text: String) -> Result<FileId, String> {
        text.parse()
    }
}

impl From<FileId> for String {
    fn from(id: FileId) -> String {
        id.to_string()
    }
}

/// A file of games from another machine.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Its entry in the order of the run.
    pub sent: Sent,
    /// The names of its games, each a hash of its actions and searches.
    pub games: Vec<FileId>,
    /// Its bytes on the wire.
    pub bytes: u64,
    /// Its samples.
    pub samples: Samples,
    /// Its counts.
    pub counts: Counts,
}

/// The files that a run has taken, by name, with the training steps of their weights, and the games in them, by name,
/// with the training steps at which they were taken. Files with old weights are rejected anyway, so only newer ones
/// need to be remembered.
pub type Seen = BTreeMap<FileId, u64>;

/// Machines that play for a run.
///
/// [`Supply::take`] hands over a file, which stays on this machine's disk until [`Supply::saved`] reports a checkpoint
/// that contains it. After a restart, [`Supply::begin`] gets the files that the last checkpoint contains, and all
/// others arrive again.
pub trait Supply: Sync {
    /// Begins or continues a run that has taken these files.
    fn begin(&self, seen: &Seen) -> Result<(), TrainError>;

    /// The number of samples that wait on this machine.
    fn waiting(&self) -> usize;

    /// The next file, in the order of arrival at the server. Fails if the run has another learner by now.
    fn take(&self) -> Result<Option<Delivery>, TrainError>;

    /// Gives newer weights to the machines. Does not wait for them.
    fn publish(&self, agent: AgentFile);

    /// Reports that a checkpoint contains all files taken so far: `seen`, and files that are too old to accept.
    fn saved(&self, seen: &Seen) -> Result<(), TrainError>;

    /// Adds the facts that only the supply knows to the counts of the run. Watchers see the result.
    fn report(&self, counted: FleetCounts) -> FleetReport;

    /// Warnings since the last call.
    fn warnings(&self) -> Vec<String>;
}

/// The machines of a run, and whether the run's own machine plays as well.
pub struct Fleet<'a> {
    /// The machines.
    pub supply: &'a dyn Supply,
    /// Whether this machine plays.
    pub plays_here: bool,
}

/// The counters of a run that concern other machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FleetCounters {
    pub(super) seen: Seen,
    pub(super) files: u64,
    pub(super) samples: u64,
    pub(super) stale: u64, // files that were dropped because their weights were too old
    #[serde(skip)]
    pub(super) told: FleetReport, // last
    pub(super) line: SinceLine,
}

/// Counts since the last line of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SinceLine {
    pub(super) files: u64,
    pub(super) samples: u64,
    pub(super) bytes: u64,
    pub(super) ages: u64, // training steps, summed over files
    pub(super) oldest: u64,
}
