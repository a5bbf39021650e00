//! Layers of settings: the defaults, those of a game, then files, then single settings. Every error names the key.

use std::path::Path;

use toml::{Table, Value};

use super::{Config, check};
use jarmo_core::game::{shorten, shorten_quotes};
use jarmo_core::net::NetConfig;
use jarmo_exact::catalog::{Catalog, Listed, Shipped};
use jarmo_host::files::{SETTINGS_BYTES, read_text};

const DEFAULTS: &str = include_str!("../../../../configs/default.toml");

/// A key is taken for a slip of another if at most one letter in this many differs.
const SLIP: usize = 4;

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

/// Defaults that replace the general ones.
#[derive(Clone, Debug)]
pub struct Base {
    /// The games that there are.
    pub games: Vec<Listed>,
    /// The game, with the training settings that it brings.
    pub game: Option<String>,
    /// The size of the network that the run starts from.
    pub net: Option<NetConfig>,
}

/// The games of this crate, with the general defaults.
impl Default for Base {
    fn default() -> Base {
        Base {
            games: Shipped.games(),
            game: None,
            net: None,
        }
    }
}

impl Config {
    /// The defaults, overridden by each file, then by each `KEY=VALUE`, and checked as a whole.
    pub fn layered(files: &[&Path], settings: &[String]) -> Result<Config, ConfigError> {
        Config::layered_on(&Base::default(), files, settings)
    }

    /// The same on other defaults. Settings that name another game than `base` are refused.
    pub fn layered_on(
        base: &Base,
        files: &[&Path],
        settings: &[String],
    ) -> Result<Config, ConfigError> {
        let mut table = defaults();
        if let Some(first) = base.games.first() {
            lay_over(
                &mut table,
                nested("game.name", Value::String(first.name.to_owned())),
            );
        }
        if let Some(game) = &base.game {
            lay_over(&mut table, of_game(game, &base.games)?);
        }
        if let Some(net) = base.net {
            let net = Value::try_from(net).expect("a network's size is plain data");
            table.insert("net".to_owned(), net);
        }
        let config = lay_all(table, files, settings)?;
        check::game(&config.game, &base.games)?;
        match &base.game {
            Some(game) if *game != config.game.name => Err(ConfigError(format!(
                "--game {game}: the settings name another game, game.name = {}; omit one of them",
                config.game.name
            ))),
            _ => Ok(config),
        }
    }

    /// All settings as text that reads back as the same settings.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings are plain data")
    }

    /// All settings by their full keys, such as `learner.rate`, in their order.
    pub fn settings(&self) -> Vec<(String, Value)> {
        leaves(Table::try_from(self).expect("settings are plain data"), "")
    }

    /// Reads settings as [`Config::to_toml`] writes them. Missing settings have their defaults.
    pub fn from_toml(text: &str) -> Result<Config, ConfigError> {
        let mut table = defaults();
        let layer: Table = text
            .parse()
            .map_err(|error: toml::de::Error| ConfigError(error.message().to_owned()))?;
        add_layer(&mut table, layer, "the settings of the run")?;
        read(table)
    }
}

fn lay_all(mut table: Table, files: &[&Path], settings: &[String]) -> Result<Config, ConfigError> {
    for path in files {
        let place = path.display();
        let text = read_text(path, SETTINGS_BYTES)
            .map_err(|error| ConfigError(format!("{place}: {error}")))?;
        let layer: Table = text
            .parse()
            .map_err(|error| ConfigError(format!("{place}: {error}")))?;
        add_layer(&mut table, layer, &place.to_string())?;
    }
    for setting in settings {
        add_layer(&mut table, single(setting)?, &format!("--set {setting}"))?;
    }
    read(table)
}

/// Overrides settings of a table, if all keys are known. Errors name `place`, where the settings come
/// from.
fn add_layer(table: &mut Table, layer: Table, place: &str) -> Result<(), ConfigError> {
    check_keys(&layer, place)?;
    lay_over(table, layer);
    Ok(())
}

/// The settings of a table, checked as a whole.
fn read(table: Table) -> Result<Config, ConfigError> {
    check::bounds(&table)?;
    let config: Config = table
        .clone()
        .try_into()
        .map_err(|error| name_the_key(table, &error))?;
    config.validate()?;
    Ok(config)
}

/// The error about settings of the wrong type, with the key of the first one: the setting that cannot be read among
/// defaults either.
fn name_the_key(table: Table, error: &toml::de::Error) -> ConfigError {
    for (key, value) in leaves(table, "") {
        let mut others = defaults();
        lay_over(&mut others, nested(&key, value.clone()));
        if let Err(error) = others.try_into::<Config>() {
            return check::wrong(&key, &value, &shorten_quotes(error.message()));
        }
    }
    ConfigError(error.message().to_owned())
}

fn defaults() -> Table {
    DEFAULTS.parse().expect("the built-in defaults are TOML")
}

/// The training settings that a game brings, with its name.
fn of_game(name: &str, games: &[Listed]) -> Result<Table, ConfigError> {
    let Some(game) = games.iter().find(|game| game.name == name) else {
        let names: Vec<&str> = games.iter().map(|game| game.name).collect();
        let (name, names) = (shorten(name), names.join(", "));
        return Err(ConfigError(format!("--game {name}: choose one of {names}")));
    };
    let place = format!("the training settings of {name}");
    let wrong = |error| ConfigError(format!("{place}: {error}"));
    let mut table = nested("game.name", Value::String(name.to_owned()));
    add_layer(&mut table, game.training.parse().map_err(wrong)?, &place)?;
    Ok(table)
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

fn check_keys(layer: &Table, place: &str) -> Result<(), ConfigError> {
    let known: Vec<String> = leaves(defaults(), "")
        .into_iter()
        .map(|leaf| leaf.0)
        .collect();
    for (key, _) in leaves(layer.clone(), "") {
        if known.contains(&key) {
            continue;
        }
        let inside = format!("{key}.");
        if known.iter().any(|known| known.starts_with(&inside)) {
            return Err(ConfigError(format!(
                "{place}: {key} is a group of settings; set one of them, such as {key}.NAME"
            )));
        }
        let key = shorten(&key);
        let remedy = remedy(&key, &known);
        return Err(ConfigError(format!(
            "{place}: unknown setting {key}; {remedy}"
        )));
    }
    Ok(())
}

/// What to write instead of an unknown key: the settings of that name in any group, a setting that differs by a slip,
/// or the settings of the named group.
fn remedy(key: &str, known: &[String]) -> String {
    let ending = format!(".{key}");
    let named: Vec<&str> = known
        .iter()
        .filter(|known| known.ends_with(&ending))
        .map(String::as_str)
        .collect();
    if !named.is_empty() {
        return format!("did you mean {}?", named.join(" or "));
    }
    let distances = known.iter().map(|known| (distance(key, known), known));
    let (letters, nearest) = distances.min().expect("there are settings");
    if letters <= key.chars().count() / SLIP {
        return format!("the nearest is {nearest}");
    }
    let group = key.split_once('.').map_or("", |(group, _)| group);
    let names = known.iter().filter_map(|known| {
        let (of, name) = known.split_once('.')?;
        (of == group).then_some(name)
    });
    let names: Vec<&str> = names.collect();
    match names.is_empty() {
        true => "`jarmo config` prints all settings".to_owned(),
        false => format!("the settings of {group} are {}", names.join(", ")),
    }
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
