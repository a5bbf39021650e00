//! Layers of settings: the defaults, those of a game, then files, then single settings. Every error names the key.

use std::fmt::Display;
use std::path::Path;

use strsim::levenshtein;
use toml::{Table, Value};

use super::{Config, check};
use crate::RunError;
use jarmo_core::game::{shorten, shorten_quotes};
use jarmo_core::net::NetSettings;
use jarmo_exact::catalog::{Catalog, Listed, Shipped};
use jarmo_host::files::{SETTINGS_BYTES, read_text};

/// Settings that are gone, by group and name, with the text that stood for their absence. Runs of earlier versions name
/// them.
const REMOVED: [(&str, &str, &str); 1] = [("selfplay", "tables", "")];

/// A key is taken for a slip of another if at most one letter in this many differs.
const SLIP: usize = 4;

impl Default for Config {
    fn default() -> Config {
        read(defaults()).expect("the built-in defaults are valid")
    }
}

/// Defaults that replace the general ones.
#[derive(Clone, Debug)]
pub struct Base {
    /// The games that there are.
    pub games: Vec<Listed>,
    /// The game, with the training settings that it brings.
    pub game: Option<String>,
    /// The size of the network that the run starts from.
    pub net: Option<NetSettings>,
}

/// The games of this crate, with the general defaults.
impl Default for Base {
    fn default() -> Base {
        Base { games: Shipped.games(), game: None, net: None }
    }
}

impl Config {
    /// The defaults of a base, overridden by each file, then by each `KEY=VALUE`, and checked as a whole. Settings that
    /// name another game than the base are refused.
    pub fn layered(base: &Base, files: &[&Path], settings: &[String]) -> Result<Config, RunError> {
        let mut table = defaults();
        if let Some(first) = base.games.first() {
            lay_over(&mut table, game_named(first.name));
        }
        if let Some(name) = &base.game {
            let game = check::game(name, &base.games)?;
            lay_over(&mut table, game_named(name));
            let place = format!("the training settings of {name}");
            add_text(&mut table, game.training, &place)?;
        }
        if let Some(net) = base.net {
            let net = Value::try_from(net).expect("a network's size is plain data");
            table.insert("net".to_owned(), net);
        }
        for path in files {
            let place = path.display().to_string();
            let text = read_text(path, SETTINGS_BYTES).map_err(|error| RunError(format!("{place}: {error}")))?;
            add_text(&mut table, &text, &place)?;
        }
        let whole = read_with(table, settings).and_then(|config| {
            let name = &config.game.name;
            check::game(name, &base.games)?;
            match &base.game {
                Some(game) if game != name => {
                    Err(RunError(format!("game.name = {name}: the run was to play {game}; omit one of the two names")))
                }
                _ => Ok(config),
            }
        });
        whole.map_err(|error| in_file(error, files, settings))
    }

    /// These settings, overridden by each `KEY=VALUE`, and checked as a whole.
    pub fn with(&self, settings: &[String]) -> Result<Config, RunError> {
        read_with(self.table(), settings)
    }

    /// All settings as text that reads back as the same settings.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings are plain data")
    }

    /// All settings by their full keys, such as `learner.rate`, in their order.
    pub fn settings(&self) -> Vec<(String, Value)> {
        leaves(self.table(), "")
    }

    /// Reads settings as [`Config::to_toml`] writes them. Missing settings have their defaults.
    pub fn from_toml(text: &str) -> Result<Config, RunError> {
        let mut table = defaults();
        let layer: Result<Table, toml::de::Error> = text.parse();
        let mut layer = layer.map_err(|error| RunError::new(error.message()))?;
        for (group, name, without) in REMOVED {
            let group = layer.get_mut(group).and_then(Value::as_table_mut);
            if let Some(group) = group
                && group.get(name).and_then(Value::as_str) == Some(without)
            {
                group.remove(name);
            }
        }
        add_layer(&mut table, layer)?;
        read(table)
    }

    fn table(&self) -> Table {
        Table::try_from(self).expect("settings are plain data")
    }
}

/// An error about settings as a whole, with the last file that sets one of those it names, unless a `KEY=VALUE` does.
pub fn in_file(error: RunError, files: &[&Path], settings: &[String]) -> RunError {
    let named = |key: &str| error.0.contains(key);
    if settings.iter().any(|one| one.split('=').next().is_some_and(|key| named(key.trim()))) {
        return error;
    }
    let sets = |path: &&&Path| {
        let text = read_text(path, SETTINGS_BYTES).unwrap_or_default();
        let layer: Table = text.parse().unwrap_or_default();
        leaves(layer, "").iter().any(|(key, _)| named(key))
    };
    match files.iter().rev().find(sets) {
        Some(path) => RunError(format!("{}: {error}", path.display())),
        None => error,
    }
}

/// Overrides settings of a table by a text from this place, which errors name.
fn add_text(table: &mut Table, text: &str, place: &str) -> Result<(), RunError> {
    let wrong = |error: &dyn Display| RunError(format!("{place}: {error}"));
    let layer = text.parse().map_err(|error: toml::de::Error| wrong(&error))?;
    add_layer(table, layer).map_err(|error| wrong(&error))
}

/// Overrides settings of a table, if all keys are known and each value is one of its setting's.
fn add_layer(table: &mut Table, layer: Table) -> Result<(), RunError> {
    check_keys(&layer)?;
    check::bounds(&layer)?;
    let mut alone = defaults();
    lay_over(&mut alone, layer.clone());
    let read: Result<Config, _> = alone.try_into();
    check::each(&read.map_err(|error| name_the_key(&layer, &error))?)?;
    lay_over(table, layer);
    Ok(())
}

/// The settings of a table, overridden by each `KEY=VALUE`.
fn read_with(mut table: Table, settings: &[String]) -> Result<Config, RunError> {
    for setting in settings {
        add_layer(&mut table, single(setting)?)?;
    }
    read(table)
}

/// The settings of a table whose layers are checked.
fn read(table: Table) -> Result<Config, RunError> {
    let config: Config = table.try_into().expect("every layer was read");
    check::together(&config)?;
    Ok(config)
}

/// The error about settings of the wrong type, with the key of the first one: the setting that cannot be read among
/// defaults either.
fn name_the_key(layer: &Table, error: &toml::de::Error) -> RunError {
    for (key, value) in leaves(layer.clone(), "") {
        let mut others = defaults();
        lay_over(&mut others, nested(&key, value.clone()));
        if let Err(error) = others.try_into::<Config>() {
            return check::wrong(&key, &value, &shorten_quotes(error.message()));
        }
    }
    RunError::new(error.message())
}

fn defaults() -> Table {
    jarmo_configs::DEFAULT.parse().expect("the built-in defaults are TOML")
}

/// The choice of a game.
fn game_named(name: &str) -> Table {
    nested("game.name", Value::String(name.to_owned()))
}

/// Parses `a.b=c`. A value that is not TOML is a string.
fn single(setting: &str) -> Result<Table, RunError> {
    let Some((key, text)) = setting.split_once('=') else {
        return Err(RunError(format!("{setting}: expected KEY=VALUE, such as selfplay.simulations=64")));
    };
    let read = format!("value = {text}").parse::<Table>();
    let value = read.ok().and_then(|mut table| table.remove("value"));
    let value = value.unwrap_or_else(|| Value::String(text.to_owned()));
    Ok(nested(key.trim(), value))
}

/// The table with this value alone, under its full key.
fn nested(key: &str, mut value: Value) -> Table {
    let mut parts = key.rsplit('.');
    let last = parts.next().unwrap_or_default();
    let mut table = Table::from_iter([(last.to_owned(), value)]);
    for part in parts {
        value = Value::Table(table);
        table = Table::from_iter([(part.to_owned(), value)]);
    }
    table
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

/// All settings of a table by their full keys.
fn leaves(table: Table, before: &str) -> Vec<(String, Value)> {
    let leaves = table.into_iter().flat_map(|(key, value)| {
        let name = format!("{before}{key}");
        match value {
            Value::Table(table) => leaves(table, &format!("{name}.")),
            value => vec![(name, value)],
        }
    });
    leaves.collect()
}

fn check_keys(layer: &Table) -> Result<(), RunError> {
    let known = leaves(defaults(), "").into_iter().map(|(key, _)| key);
    let known: Vec<String> = known.collect();
    for (key, _) in leaves(layer.clone(), "") {
        if known.contains(&key) {
            continue;
        }
        let inside = format!("{key}.");
        if known.iter().any(|known| known.starts_with(&inside)) {
            return Err(RunError(format!("{key} is a group of settings; set one of them, such as {key}.NAME")));
        }
        let key = shorten(&key);
        let remedy = remedy(&key, &known);
        return Err(RunError(format!("unknown setting {key}; {remedy}")));
    }
    Ok(())
}

/// What to write instead of an unknown key: the settings of that name in any group, a setting that differs by a slip,
/// or the settings of the named group.
fn remedy(key: &str, known: &[String]) -> String {
    let ending = format!(".{key}");
    let named = known.iter().filter(|known| known.ends_with(&ending));
    let named: Vec<&str> = named.map(String::as_str).collect();
    if !named.is_empty() {
        return format!("did you mean {}?", named.join(" or "));
    }
    let distances = known.iter().map(|known| (levenshtein(key, known), known));
    let (letters, nearest) = distances.min().expect("there are settings");
    if letters <= key.chars().count() / SLIP {
        return format!("the nearest is {nearest}");
    }
    let parts = known.iter().filter_map(|known| known.split_once('.'));
    let group = key.split_once('.').map_or("", |(group, _)| group);
    let names = parts.clone().filter(|(of, _)| *of == group);
    let names: Vec<&str> = names.map(|(_, name)| name).collect();
    if !names.is_empty() {
        return format!("the settings of {group} are {}", names.join(", "));
    }
    let mut groups: Vec<&str> = parts.map(|(group, _)| group).collect();
    groups.dedup();
    format!("the groups of settings are {}", groups.join(", "))
}
