//! The metrics of a run: lines with a check each. Damaged lines are reported, and kept as they are.

use super::RunError;
use super::folder::{RunFolder, line_of};
use crate::observe::Metrics;
use jarmo_core::checksum::sealed_lines;
use jarmo_host::run_folder::METRICS;

impl RunFolder {
    /// Changes the last line of the metrics. Returns whether there is a sound one.
    pub(super) fn change_last_metrics(&self, change: impl FnOnce(&mut Metrics)) -> Result<bool, RunError> {
        let mut bytes = self.read_lines(METRICS)?.unwrap_or_default();
        let Some(last) = sealed_lines(&bytes).last() else {
            return Ok(false);
        };
        let Some(mut metrics) = last.text.and_then(metrics_of) else {
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

    /// Removes what follows the `count` lines up to this step from the metrics, because the run will write
    /// it again. Returns the sound lines that stay, and a warning for every damaged line among the first, and if some
    /// of them are missing.
    pub(super) fn cut_metrics(&self, step: u64, count: u64) -> Result<(Vec<Metrics>, Vec<String>), RunError> {
        let bytes = self.read_lines(METRICS)?.unwrap_or_default();
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
}

fn metrics_of(line: &str) -> Option<Metrics> {
    serde_json::from_str(line).ok()
}
