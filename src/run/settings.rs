//! The settings of a run as single texts, to tell which of them changed between two processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::config::Config;

/// The text of every setting by its key, `learner.rate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings(BTreeMap<String, String>);

impl Settings {
    pub(super) fn of(config: &Config) -> Settings {
        let mut all = BTreeMap::new();
        let table = Table::try_from(config).expect("settings are plain data");
        add(&mut all, "", &table);
        Settings(all)
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

fn add(all: &mut BTreeMap<String, String>, before: &str, table: &Table) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => add(all, &format!("{before}{key}."), inner),
            value => drop(all.insert(format!("{before}{key}"), value.to_string())),
        }
    }
}
