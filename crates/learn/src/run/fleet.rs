//! The part of the loop that deals with other machines.

use super::Run;
use super::lines::{ORDER, OrderLine};
use super::state::Counters;
use super::supply::{FleetCounters, Supply};
use super::watch::Watchers;
use crate::TrainError;
use crate::observe::{Event, FleetCounts};

impl<F: FnMut(Event<'_>)> Run<'_, F> {
    /// Gives the newest weights to the machines of the fleet.
    pub(super) fn publish(&self) {
        if let Some(fleet) = &self.fleet {
            fleet.supply.publish(self.agent());
        }
    }

    /// Adds the files that other machines sent to the replay buffer, until enough training steps are due.
    pub(super) fn take_deliveries(&mut self) -> Result<(), TrainError> {
        let Some(fleet) = &self.fleet else {
            return Ok(());
        };
        let step = self.trainer.learner.steps();
        let max_age = self.config.fleet.max_age;
        while !self.trainer.is_behind() {
            let Some(delivery) = fleet.supply.take()? else {
                break;
            };
            self.unsaved = true;
            let counters = &mut self.counters.fleet;
            let sent = delivery.sent;
            let age = step.saturating_sub(sent.weights);
            if counters.seen.insert(sent.id, sent.weights).is_some() {
                continue;
            }
            if age > max_age {
                counters.stale += 1;
                continue;
            }
            counters.seen.extend(delivery.games.into_iter().map(|game| (game, step)));
            let samples = delivery.samples.len();
            counters.files += 1;
            counters.samples += samples as u64;
            let line = &mut counters.line;
            line.files += 1;
            line.samples += samples as u64;
            line.bytes += delivery.bytes;
            line.ages += age;
            line.oldest = line.oldest.max(age);
            self.counters.add_played(&delivery.counts);
            let file = self.trainer.add(delivery.samples, samples);
            self.folder.append(ORDER, &OrderLine { file, step, samples, sent: Some(sent) })?;
        }
        Ok(())
    }
}

/// Reports the state of the fleet to watchers. In the first seconds after a line of metrics, it repeats the previous
/// speeds and ages, because new ones would mean nothing yet.
pub(super) fn tell(supply: &dyn Supply, counters: &mut Counters, watchers: &mut Watchers<impl FnMut(Event<'_>)>) {
    const LEAST_SECONDS: f64 = 5.0;
    for warning in supply.warnings() {
        watchers.tell(Event::Warning(warning));
    }
    let mut counted = counters.fleet.report(counters.sums.passed);
    let told = &counters.fleet.told;
    if counters.sums.passed < LEAST_SECONDS && told.counted.files > 0 {
        counted = FleetCounts { files: counted.files, samples: counted.samples, stale: counted.stale, ..told.counted };
    }
    counters.fleet.told = supply.report(counted);
    watchers.tell(Event::Fleet(&counters.fleet.told));
}

impl FleetCounters {
    /// The counts of the run itself. `seconds` is the time since the last line of metrics.
    pub(super) fn report(&self, seconds: f64) -> FleetCounts {
        let per = |sum: u64, count: f64| if count > 0.0 { sum as f64 / count } else { 0.0 };
        let line = &self.line;
        FleetCounts {
            files: self.files,
            samples: self.samples,
            stale: self.stale,
            age: per(line.ages, line.files as f64),
            oldest: line.oldest,
            samples_per_s: per(line.samples, seconds),
            bytes_per_s: per(line.bytes, seconds),
        }
    }
}
