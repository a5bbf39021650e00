//! The settings of a run as single texts, to tell which of them changed between two processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::{Config, RunSettings};

/// The text of every setting by its key, `learner.rate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings(BTreeMap<String, String>);

impl Settings {
    pub(super) fn of(config: &Config) -> Settings {
        let all = config.settings().into_iter();
        Settings(all.map(|(key, value)| (key, value.to_string())).collect())
    }

    /// A sentence for every setting that is another one now. Limits may change, because they do not change what a run
    /// learns.
    pub(super) fn changes(&self, now: &Settings) -> Vec<String> {
        let limits = RunSettings::LIMITS.map(|(name, _)| format!("run.{name}"));
        let others = now.0.iter().filter(|(key, _)| !limits.contains(key));
        let pairs = others.filter_map(|(key, new)| {
            let old = self.0.get(key)?;
            (old != new).then(|| format!("{key} is {new}, and was {old} when the run was saved"))
        });
        pairs.collect()
    }
}
