//! The settings of a run as single texts, to tell which of them changed between two processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::Config;

/// The text of every setting by its key, `learner.rate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings(BTreeMap<String, String>);

impl Settings {
    pub(super) fn of(config: &Config) -> Settings {
        let all = config.settings().into_iter();
        Settings(all.map(|(key, value)| (key, value.to_string())).collect())
    }

    /// A sentence for every setting that is another one now.
    pub(super) fn changes(&self, now: &Settings) -> Vec<String> {
        let pairs = now.0.iter().filter_map(|(key, new)| {
            let old = self.0.get(key)?;
            (old != new).then(|| format!("{key} is {new}, and was {old} when the run was saved"))
        });
        pairs.collect()
    }
}
