//! The part of the loop that deals with other machines.

use super::order::{OrderLine, Sent};
use super::state::Counters;
use super::supply::{SinceLine, Supply};
use super::watch::Watchers;
use super::{Run, RunError};
use crate::observe::{Event, FleetReport};
use jarmo_exact::catalog::CatalogGame;

impl<G: CatalogGame, F: FnMut(Event<'_>)> Run<'_, G, F> {
    /// Gives the newest weights to the machines of the fleet.
    pub(super) fn publish(&self) {
        if let Some(fleet) = &self.fleet {
            fleet.supply.publish(self.agent());
        }
    }

    /// Adds the files that other machines sent to the window, until so many learning steps are due that more would
    /// only wait.
    pub(super) fn take_deliveries(&mut self) -> Result<(), RunError> {
        let Some(fleet) = &self.fleet else {
            return Ok(());
        };
        let step = self.trainer.steps();
        let max_age = self.config.fleet.max_age;
        while !self.trainer.is_behind() {
            let Some(delivery) = fleet.supply.take() else {
                break;
            };
            self.unsaved = true;
            let counters = &mut self.counters.fleet;
            let age = step.saturating_sub(delivery.weights);
            if !counters.seen.add(delivery.id, delivery.weights) {
                continue;
            }
            if age > max_age {
                counters.stale += 1;
                continue;
            }
            let sent = Some(Sent::of(&delivery));
            let samples = delivery.samples.len();
            counters.files += 1;
            counters.samples += samples as u64;
            let line = &mut counters.line;
            line.files += 1;
            line.samples += samples as u64;
            line.bytes += delivery.bytes;
            line.ages += age;
            line.oldest = line.oldest.max(age);
            self.counters.games += delivery.counts.games.games;
            self.counters.positions += delivery.counts.positions;
            self.counters.sums.add_counts(&delivery.counts);
            let added = self.trainer.add_delivery(delivery.samples);
            let file = added.map_err(|error| self.folder.unwritten(error))?;
            self.folder.append_order(&OrderLine {
                file,
                step,
                samples,
                sent,
            })?;
        }
        Ok(())
    }
}

/// Shows what the fleet does.
pub(super) fn tell(
    supply: &dyn Supply,
    counters: &Counters,
    watchers: &mut Watchers<impl FnMut(Event<'_>)>,
) {
    for warning in supply.warnings() {
        watchers.tell(Event::Warning(warning));
    }
    let report = report(supply, counters);
    supply.show(watchers.tell_fleet(report, counters.sums.passed));
}

/// What watchers see of the fleet.
pub(super) fn report(supply: &dyn Supply, counters: &Counters) -> FleetReport {
    let SinceLine {
        files,
        samples,
        bytes,
        ages,
        oldest,
    } = counters.fleet.line;
    let per = |sum: u64, count: f64| if count > 0.0 { sum as f64 / count } else { 0.0 };
    let passed = counters.sums.passed;
    FleetReport {
        files: counters.fleet.files,
        samples: counters.fleet.samples,
        stale: counters.fleet.stale,
        age: per(ages, files as f64),
        oldest,
        samples_per_s: per(samples, passed),
        bytes_per_s: per(bytes, passed),
        ..supply.report()
    }
}
