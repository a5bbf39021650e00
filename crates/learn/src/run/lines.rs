//! Files of a run with a checksum in each line: its metrics, and the order in which a fleet's run took its files of
//! samples. Damaged lines of metrics are reported, and kept as they are.

use std::fs::OpenOptions;
use std::io;

use serde::{Deserialize, Serialize};

use super::folder::{RunFolder, at, line_of, read_lines};
use super::supply::FileId;
use crate::TrainError;
use crate::observe::Metrics;
use jarmo_core::checksum::sealed_lines;
use jarmo_host::run_folder::METRICS;

/// The order of files. Together with the files it determines what the run learned from: at every training step, the
/// replay buffer held the files of the lines up to that step.
pub(super) const ORDER: &str = "order.jsonl";

/// A file of samples in the order of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    /// Its number in the folder `replay`.
    pub file: u64,
    /// The training steps before it was added.
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
    /// The training steps of the oldest weights that played in it.
    pub weights: u64,
}

impl RunFolder {
    /// Changes the last line of the metrics. Returns false if there is no undamaged line.
    pub(super) fn change_last_metrics(&self, change: impl FnOnce(&mut Metrics)) -> Result<bool, TrainError> {
        let mut bytes = read_lines(&self.path, METRICS)?.unwrap_or_default();
        let last = sealed_lines(&bytes).last();
        let Some((last, mut metrics)) = last.and_then(|last| Some((last, metrics_of(last.text?)?))) else {
            return Ok(false);
        };
        change(&mut metrics);
        let before = bytes.len() - last.bytes.len() - usize::from(last.is_whole);
        bytes.truncate(before);
        bytes.extend_from_slice(line_of(&metrics).as_bytes());
        bytes.push(b'\n');
        self.write(METRICS, &bytes)?;
        Ok(true)
    }

    /// Removes the lines after the first `count`, which end at this step, from the metrics, because the run will write
    /// them again. Returns the undamaged lines that remain, and a warning for each damaged or missing one.
    pub(super) fn cut_metrics(&self, step: u64, count: u64) -> Result<(Vec<Metrics>, Vec<String>), TrainError> {
        let bytes = read_lines(&self.path, METRICS)?.unwrap_or_default();
        let (mut kept, mut lines) = (Vec::new(), 0);
        let (mut sound, mut warnings) = (Vec::new(), Vec::new());
        let path = self.path.join(METRICS);
        let path = path.display();
        for line in sealed_lines(&bytes) {
            match line.text.and_then(metrics_of) {
                Some(metrics) if metrics.step > step => continue,
                Some(metrics) => sound.push(metrics),
                None if lines >= count => continue, // perhaps torn by a kill
                None => warnings.push(format!(
                    "{path}: line {} is damaged and kept as it is; programs that read the file may \
                     need it deleted",
                    line.number
                )),
            }
            kept.extend_from_slice(line.bytes);
            kept.push(b'\n');
            lines += 1;
        }
        if lines < count {
            let missing = count - lines;
            warnings.push(format!("{path}: {missing} of {count} lines up to step {step} are missing"));
        }
        if kept != bytes {
            self.write(METRICS, &kept)?;
        }
        Ok((sound, warnings))
    }

    /// Syncs the order to the disk, if the run has one.
    pub(super) fn sync_order(&self) -> Result<(), TrainError> {
        let path = self.path.join(ORDER);
        let synced = match OpenOptions::new().append(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            file => file.and_then(|file| file.sync_all()),
        };
        synced.map_err(|error| self.unwritten(at(&path, error)))
    }

    /// The files of the run in their order; empty for a run without a fleet. A damaged line is an error, unless it is the
    /// last one, which a kill may have torn.
    pub fn order(&self) -> Result<Vec<OrderLine>, TrainError> {
        self.order_before(u64::MAX)
    }

    /// The files with lower numbers. Later lines are ignored, even if a crash damaged them.
    fn order_before(&self, next: u64) -> Result<Vec<OrderLine>, TrainError> {
        let bytes = read_lines(&self.path, ORDER)?.unwrap_or_default();
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
                return Err(TrainError(format!("{}: line {number} is damaged", path.display())));
            }
            lines.push(read);
        }
        Ok(lines)
    }

    /// Removes the files from this number on from the order, because the run takes them again.
    pub(super) fn cut_order(&self, next: u64) -> Result<(), TrainError> {
        if !self.path.join(ORDER).exists() {
            return Ok(());
        }
        let lines = self.order_before(next)?.iter().map(|line| line_of(line) + "\n").collect::<String>();
        self.write(ORDER, lines.as_bytes())
    }
}

pub(super) fn metrics_of(line: &str) -> Option<Metrics> {
    serde_json::from_str(line).ok()
}
