//! Layers of settings: the general defaults, those of a game, then files, then single settings. Every error contains
//! the key.

use std::fmt::Display;
use std::path::Path;

use toml::{Table, Value};

use super::{Config, check};
use crate::TrainError;
use jarmo_core::game::{nearest, shorten, shorten_quotes};
use jarmo_core::net::{AgentFile, NetKind};
use jarmo_facade::{Games, Listed};
use jarmo_host::files::{SETTINGS_BYTES, read_text};

/// The setting that selects the game.
const GAME: &str = "game.name";

impl Default for Config {
    fn default() -> Config {
        read(defaults()).expect("the built-in defaults are valid")
    }
}

/// Defaults that replace the general ones.
#[derive(Clone, Debug)]
pub struct Base {
    /// The available games.
    pub games: Vec<Listed>,
    /// The game, which has training settings of its own.
    pub game: Option<String>,
    /// The network that the run starts from.
    pub net: Option<NetKind>,
}

/// The shipped games, with the general defaults.
impl Default for Base {
    fn default() -> Base {
        Base { games: Games::shipped().list(), game: None, net: None }
    }
}

impl Config {
    /// The defaults of a base, overridden by each file, then by each `KEY=VALUE`, and checked as a whole. Settings for
    /// another game than that of the base are rejected.
    pub fn layered(base: &Base, files: &[&Path], settings: &[String]) -> Result<Config, TrainError> {
        let mut table = defaults();
        if let Some(first) = base.games.first() {
            set(&mut table, GAME, first.name.into());
        }
        if let Some(name) = &base.game {
            let game = check::game(name, &base.games)?;
            set(&mut table, GAME, name.as_str().into());
            let place = format!("the training settings of {name}");
            add_text(&mut table, game.training, &place)?;
        }
        if let Some(net) = &base.net {
            set(&mut table, "net.kind", net.name().into());
            let size = net.size().map(|size| Table::try_from(size).expect("a network's size is plain data"));
            table["net"].as_table_mut().expect("a group of the defaults").extend(size.into_iter().flatten());
        }
        let mut wrong = Vec::new();
        for path in files {
            let place = path.display().to_string();
            let text = read_text(path, SETTINGS_BYTES).map_err(|error| TrainError(format!("{place}: {error}")))?;
            wrong.extend(add_text(&mut table, &text, &place).err());
        }
        wrong.extend(add_settings(&mut table, settings).err());
        together(wrong)?;
        let whole = read(table).and_then(|config| {
            let name = &config.game.name;
            check::game(name, &base.games)?;
            match &base.game {
                Some(game) if game != name => Err(TrainError(format!(
                    "game.name = {name}: the run was to play {game}; omit one of the two names"
                ))),
                _ => Ok(config),
            }
        });
        whole.map_err(|error| in_file(error, files, settings))
    }

    /// The settings of a new run. Its game is the first one, unless an argument can name another. If the run starts
    /// from an agent, its network is the default.
    pub fn of_run(
        games: &Games,
        game: Option<&str>,
        first: Option<&AgentFile>,
        files: &[&Path],
        settings: &[String],
    ) -> Result<Config, TrainError> {
        let net = first.map(|agent| agent.header().net.clone());
        let names_a_game = |setting: &String| setting.trim_start().starts_with(GAME);
        let has_game = |path: &&Path| keys_of(path).iter().any(|key| key == GAME);
        let may_name_another = files.iter().any(has_game) || settings.iter().any(names_a_game);
        let default = games.names().first().copied().filter(|_| !may_name_another);
        let base = Base { games: games.list(), game: game.or(default).map(str::to_owned), net };
        Config::layered(&base, files, settings)
    }

    /// These settings, overridden by each `KEY=VALUE`, and checked as a whole.
    pub fn with(&self, settings: &[String]) -> Result<Config, TrainError> {
        let mut table = self.table();
        add_settings(&mut table, settings)?;
        read(table)
    }

    /// All settings as text that reads back as the same settings.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings are plain data")
    }

    /// All settings in order, by their full keys, such as `learner.rate`.
    pub fn settings(&self) -> Vec<(String, Value)> {
        leaves(self.table())
    }

    /// Reads settings as [`Config::to_toml`] writes them. Missing settings get their defaults.
    pub fn from_toml(text: &str) -> Result<Config, TrainError> {
        let mut table = defaults();
        let layer: Result<Table, toml::de::Error> = text.parse();
        let layer = layer.map_err(|error| TrainError::new(error.message()))?;
        together(add_layer(&mut table, leaves(layer)))?;
        read(table)
    }

    fn table(&self) -> Table {
        Table::try_from(self).expect("settings are plain data")
    }
}

/// Adds the path of a file to an error: the last file that sets one of the settings in the error. Adds nothing if a
/// `KEY=VALUE` sets one of them.
pub fn in_file(error: TrainError, files: &[&Path], settings: &[String]) -> TrainError {
    let named = |key: &str| error.0.contains(key);
    if settings.iter().any(|one| one.split('=').next().is_some_and(|key| named(key.trim()))) {
        return error;
    }
    let sets = |path: &&&Path| keys_of(path).iter().any(|key| named(key));
    match files.iter().rev().find(sets) {
        Some(path) => TrainError(format!("{}: {error}", path.display())),
        None => error,
    }
}

/// The keys of the settings in a file; none if it cannot be read.
fn keys_of(path: &Path) -> Vec<String> {
    let text = read_text(path, SETTINGS_BYTES).unwrap_or_default();
    leaves(text.parse().unwrap_or_default()).into_iter().map(|(key, _)| key).collect()
}

/// Overrides settings of a table by those in a text. Errors say that the text is from `place`.
fn add_text(table: &mut Table, text: &str, place: &str) -> Result<(), TrainError> {
    let wrong = |error: &dyn Display| TrainError(format!("{place}: {error}"));
    let layer = text.parse().map_err(|error: toml::de::Error| wrong(&error))?;
    let added = add_layer(table, leaves(layer));
    together(added.into_iter().map(|error| TrainError(format!("{place}: {error}"))).collect())
}

/// Overrides settings of a table by each `KEY=VALUE`.
fn add_settings(table: &mut Table, settings: &[String]) -> Result<(), TrainError> {
    let added = settings.iter().flat_map(|setting| match single(setting) {
        Ok((key, value)) => add_layer(table, leaves(Table::from_iter([(key, value)]))),
        Err(error) => vec![error],
    });
    together(added.collect())
}

/// Overrides settings of a table if all keys are known and all values fit. Otherwise returns an error for each setting
/// that is wrong.
fn add_layer(table: &mut Table, layer: Vec<(String, Value)>) -> Vec<TrainError> {
    let known: Vec<String> = leaves(defaults()).into_iter().map(|(key, _)| key).collect();
    let wrong: Vec<TrainError> =
        layer.iter().filter_map(|(key, value)| check_setting(key, value, &known).err()).collect();
    if wrong.is_empty() {
        for (key, value) in layer {
            set(table, &key, value);
        }
    }
    wrong
}

/// Checks a setting on its own.
fn check_setting(key: &str, value: &Value, known: &[String]) -> Result<(), TrainError> {
    check_key(key, known)?;
    let mut alone = defaults();
    set(&mut alone, key, value.clone());
    check::bounds(&alone)?;
    let read: Result<Config, _> = alone.try_into();
    let wrong = |error: toml::de::Error| check::wrong(key, value, &shorten_quotes(error.message()));
    check::each(&read.map_err(wrong)?)
}

/// One error with a line for each problem, or `Ok` if there is none.
fn together(problems: Vec<TrainError>) -> Result<(), TrainError> {
    let lines: Vec<String> = problems.into_iter().map(|problem| problem.0).collect();
    if lines.is_empty() { Ok(()) } else { Err(TrainError(lines.join("\n"))) }
}

/// The settings of a table. Each of its layers has been checked.
fn read(table: Table) -> Result<Config, TrainError> {
    let config: Config = table.try_into().expect("every layer was read");
    check::together(&config)?;
    Ok(config)
}

fn defaults() -> Table {
    jarmo_configs::DEFAULT.parse().expect("the built-in defaults are TOML")
}

/// Parses `a.b=c`. A value that is not TOML is a string.
fn single(setting: &str) -> Result<(String, Value), TrainError> {
    let Some((key, text)) = setting.split_once('=') else {
        return Err(TrainError(format!("{setting}: expected KEY=VALUE, such as selfplay.simulations=64")));
    };
    let read = format!("value = {text}").parse::<Table>();
    if read.as_ref().is_ok_and(|table| table.len() > 1) {
        return Err(TrainError(format!("{}: expected one setting", shorten(setting))));
    }
    let value = read.ok().and_then(|mut table| table.remove("value"));
    Ok((key.trim().to_owned(), value.unwrap_or_else(|| Value::String(text.to_owned()))))
}

/// Changes the setting with this full key, which the table must contain.
fn set(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.').map(|(group, name)| (table.get_mut(group), name)) {
        Some((Some(Value::Table(group)), name)) => set(group, name, value),
        _ => {
            table.insert(key.to_owned(), value);
        }
    }
}

/// All settings of a table by their full keys.
fn leaves(table: Table) -> Vec<(String, Value)> {
    let leaves = table.into_iter().flat_map(|(key, value)| match value {
        Value::Table(group) => {
            leaves(group).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)).collect()
        }
        value => vec![(key, value)],
    });
    leaves.collect()
}

fn check_key(key: &str, known: &[String]) -> Result<(), TrainError> {
    if known.iter().any(|known| known == key) {
        return Ok(());
    }
    let inside = format!("{key}.");
    if known.iter().any(|known| known.starts_with(&inside)) {
        return Err(TrainError(format!("{key} is a group of settings; set one of them, such as {key}.NAME")));
    }
    let key = shorten(key);
    let remedy = remedy(&key, known);
    Err(TrainError(format!("unknown setting {key}; {remedy}")))
}

/// What to write instead of an unknown key: the settings of that name in any group, a setting that differs by a typo,
/// or all settings of the group in the key.
fn remedy(key: &str, known: &[String]) -> String {
    let ending = format!(".{key}");
    let named = known.iter().filter(|known| known.ends_with(&ending));
    let named: Vec<&str> = named.map(String::as_str).collect();
    if !named.is_empty() {
        return format!("did you mean {}?", named.join(" or "));
    }
    let parts = known.iter().filter_map(|known| known.split_once('.'));
    let (group, name) = key.split_once('.').unwrap_or(("", key));
    let names: Vec<&str> = parts.clone().filter(|(of, _)| *of == group).map(|(_, name)| name).collect();
    // In agents' specs and on the command line, simulations are called `sims`.
    let name = if name == "sims" { "simulations" } else { name };
    let endings: Vec<String> = names.iter().map(|name| format!(".{name}")).collect();
    if let Some(nearest) = nearest(&format!(".{name}"), endings.iter().map(String::as_str)) {
        return format!("the nearest is {group}{nearest}");
    }
    if !names.is_empty() {
        return format!("the settings of {group} are {}", names.join(", "));
    }
    if let Some(nearest) = nearest(key, known.iter().map(String::as_str)) {
        return format!("the nearest is {nearest}");
    }
    let mut groups: Vec<&str> = parts.map(|(group, _)| group).collect();
    groups.dedup();
    format!("the groups of settings are {}", groups.join(", "))
}
