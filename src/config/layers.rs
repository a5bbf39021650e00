//! Layers of settings: the defaults, then files, then single settings. An error about an unknown key
//! names the nearest known one.

use std::path::Path;

use toml::{Table, Value};

use super::{Config, check};
use crate::files::{SETTINGS_BYTES, read_text};
use crate::net::NetConfig;

const DEFAULTS: &str = include_str!("../../configs/default.toml");

/// Why settings cannot be used, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    pub(super) fn new(problem: String) -> ConfigError {
        ConfigError(problem)
    }
}

impl Default for Config {
    fn default() -> Config {
        read(defaults()).expect("the built-in defaults are valid")
    }
}

impl Config {
    /// The defaults, overridden by each file, then by each `KEY=VALUE`, and checked as a whole.
    pub fn layered(files: &[&Path], settings: &[String]) -> Result<Config, ConfigError> {
        lay_all(defaults(), files, settings)
    }

    /// The same for a run that starts from a network. Its size becomes the default.
    pub fn layered_from(
        net: NetConfig,
        files: &[&Path],
        settings: &[String],
    ) -> Result<Config, ConfigError> {
        let mut table = defaults();
        let net = Value::try_from(net).expect("a network's size is plain data");
        table.insert("net".to_owned(), net);
        lay_all(table, files, settings)
    }

    /// All settings as text that reads back as the same settings.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings are plain data")
    }

    /// Reads settings as [`Config::to_toml`] writes them. Missing settings have their defaults.
    pub fn from_toml(text: &str) -> Result<Config, ConfigError> {
        let mut table = defaults();
        let known = keys(&table, "");
        let layer: Table = text
            .parse()
            .map_err(|error: toml::de::Error| ConfigError(error.message().to_owned()))?;
        add_layer(&mut table, &known, layer, "the settings of the run")?;
        read(table)
    }
}

fn lay_all(mut table: Table, files: &[&Path], settings: &[String]) -> Result<Config, ConfigError> {
    let known = keys(&defaults(), "");
    for path in files {
        let place = path.display();
        let text = read_text(path, SETTINGS_BYTES)
            .map_err(|error| ConfigError(format!("{place}: {error}")))?;
        let layer: Table = text
            .parse()
            .map_err(|error| ConfigError(format!("{place}: {error}")))?;
        add_layer(&mut table, &known, layer, &place.to_string())?;
    }
    for setting in settings {
        let layer = single(setting)?;
        add_layer(&mut table, &known, layer, &format!("--set {setting}"))?;
    }
    read(table)
}

/// Overrides settings of a table, if all keys are known. Errors name `place`, where the settings come
/// from.
fn add_layer(
    table: &mut Table,
    known: &[String],
    layer: Table,
    place: &str,
) -> Result<(), ConfigError> {
    check_keys(&layer, known, place)?;
    lay_over(table, layer);
    Ok(())
}

/// The settings of a table, checked as a whole.
fn read(table: Table) -> Result<Config, ConfigError> {
    check::bounds(&table)?;
    let config: Config = table
        .try_into()
        .map_err(|error: toml::de::Error| ConfigError(error.message().to_owned()))?;
    config.validate()?;
    Ok(config)
}

fn defaults() -> Table {
    DEFAULTS.parse().expect("the built-in defaults are TOML")
}

/// Parses `a.b=c`. A value that is not TOML is a string.
fn single(setting: &str) -> Result<Table, ConfigError> {
    let Some((key, text)) = setting.split_once('=') else {
        return Err(ConfigError(format!(
            "--set {setting}: expected KEY=VALUE, such as --set selfplay.simulations=64"
        )));
    };
    let read = format!("value = {text}").parse::<Table>();
    let value = read.ok().and_then(|mut table| table.remove("value"));
    let mut value = value.unwrap_or_else(|| Value::String(text.to_owned()));
    let mut parts = key.trim().rsplit('.');
    let last = parts.next().unwrap_or_default();
    let mut table = Table::from_iter([(last.to_owned(), value)]);
    for part in parts {
        value = Value::Table(table);
        table = Table::from_iter([(part.to_owned(), value)]);
    }
    Ok(table)
}

fn lay_over(table: &mut Table, layer: Table) {
    for (key, value) in layer {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// The full keys of all settings in a table.
fn keys(table: &Table, before: &str) -> Vec<String> {
    let keys = table.iter().flat_map(|(key, value)| {
        let name = format!("{before}{key}");
        match value {
            Value::Table(table) => keys(table, &format!("{name}.")),
            _ => vec![name],
        }
    });
    keys.collect()
}

fn check_keys(layer: &Table, known: &[String], place: &str) -> Result<(), ConfigError> {
    for key in keys(layer, "") {
        if known.contains(&key) {
            continue;
        }
        let inside = format!("{key}.");
        if known.iter().any(|known| known.starts_with(&inside)) {
            return Err(ConfigError(format!(
                "{place}: {key} is a group of settings; set one of them, such as {key}.NAME"
            )));
        }
        let nearest = known
            .iter()
            .min_by_key(|known| distance(&key, known))
            .expect("there are settings");
        return Err(ConfigError(format!(
            "{place}: unknown setting {key}; the nearest is {nearest}"
        )));
    }
    Ok(())
}

/// The Levenshtein distance: letters to insert, delete or replace.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (place, &other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(row[place] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
