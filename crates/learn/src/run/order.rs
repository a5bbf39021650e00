//! The order in which a fleet's run took its files of samples, in `order.jsonl`. With the files, it says exactly what
//! the run learned from: at every learning step, the window held the files of the lines so far.

use std::fs::OpenOptions;
use std::io;

use serde::{Deserialize, Serialize};

use super::RunError;
use super::folder::{RunFolder, at, line_of};
use super::supply::FileId;
use jarmo_core::checksum::sealed_lines;

const ORDER: &str = "order.jsonl";

/// A file of samples in the order of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    /// Its number in the folder `replay`.
    pub file: u64,
    /// The learning steps before it was added.
    pub step: u64,
    /// Its samples.
    pub samples: usize,
    /// Where it came from, if it came from another machine.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
}

/// A file of games as another machine sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The hash of its content.
    pub id: FileId,
    /// Its number in the order of arrival at the server.
    pub sequence: u64,
    /// The key that sent it, as the server knows it; empty in runs of older versions.
    #[serde(default)]
    pub key: String,
    /// The name that its worker gave itself.
    pub worker: String,
    /// The learning steps of the oldest weights that played in it.
    pub weights: u64,
}

impl RunFolder {
    /// Appends a line to the order. It is on the disk for certain after [`RunFolder::sync_order`].
    pub(super) fn append_order(&self, line: &OrderLine) -> Result<(), RunError> {
        self.append(ORDER, line)
    }

    /// Syncs the order, if the run has one.
    pub(super) fn sync_order(&self) -> Result<(), RunError> {
        let path = self.path.join(ORDER);
        let synced = match OpenOptions::new().append(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            file => file.and_then(|file| file.sync_all()),
        };
        synced.map_err(|error| self.unwritten(at(&path, error)))
    }

    /// The files of the run in their order; empty for a run without a fleet. A damaged line is an error, unless it is the
    /// last one, which a kill may have torn.
    pub fn order(&self) -> Result<Vec<OrderLine>, RunError> {
        self.order_before(u64::MAX)
    }

    /// The files with lower numbers. What a crash did to the lines behind them does not matter.
    fn order_before(&self, next: u64) -> Result<Vec<OrderLine>, RunError> {
        let bytes = self.read_lines(ORDER)?.unwrap_or_default();
        let mut lines = Vec::new();
        let mut damaged = None;
        for line in sealed_lines(&bytes) {
            let read: Option<OrderLine> = line.text.and_then(|text| serde_json::from_str(text).ok());
            let Some(read) = read else {
                damaged.get_or_insert(line.number);
                continue;
            };
            if read.file >= next {
                continue;
            }
            if let Some(number) = damaged {
                let path = self.path.join(ORDER);
                return Err(RunError(format!("{}: line {number} is damaged", path.display())));
            }
            lines.push(read);
        }
        Ok(lines)
    }

    /// Removes the files from this number on from the order, because the run takes them again.
    pub(super) fn cut_order(&self, next: u64) -> Result<(), RunError> {
        if !self.path.join(ORDER).exists() {
            return Ok(());
        }
        let lines = self.order_before(next)?.iter().map(|line| line_of(line) + "\n").collect::<String>();
        self.write(ORDER, lines.as_bytes())
    }
}
