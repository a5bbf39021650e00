//! The text that names an agent: `rollout:800`, `alphabeta:200000?mb=64`, `best.safetensors?sims=64`.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// How the name of an agent file ends.
pub(super) const FILE_ENDING: &str = ".safetensors";

/// An agent as it is written: `KIND[:NUMBER][?KEY=VALUE[&KEY=VALUE…]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    /// Which agent.
    pub kind: AgentKind,
    /// What it may spend on a move, if the text says so.
    pub number: Option<u64>,
    settings: Vec<(String, String)>, // in the order of the text, no key twice
}

/// The agents there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// Any legal action.
    Random,
    /// The best action as it looks one ply ahead.
    Greedy,
    /// Tree search that knows nothing of the game but its rules.
    Uniform,
    /// Tree search with random games from its leaves.
    Rollout,
    /// Depth-first search with a simple evaluation.
    AlphaBeta,
    /// Perfect play where exact tables reach.
    Tables(PathBuf),
    /// Tree search with a trained network.
    File(PathBuf),
}

/// What agents are written like, for messages and help.
pub const AGENTS: &str = "random, greedy, uniform:SIMULATIONS, rollout:SIMULATIONS, \
                          alphabeta:NODES, tables:DIR, or an agent file FILE.safetensors?sims=SIMULATIONS";

/// Settings of an agent file: those of every search, then the tables, then those of a network.
const FILE_SETTINGS: &[&str] = &[
    "sims",
    "root",
    "cpuct",
    "fpu",
    "keep",
    "mb",
    "tables",
    "kernel",
    "temperature",
];

/// Settings of all agents that grow a tree.
const TREE_SETTINGS: &[&str] = FILE_SETTINGS.split_at(7).0;

/// Settings of a tree agent that has its tables already.
const TABLES_SETTINGS: &[&str] = TREE_SETTINGS.split_at(6).0;

/// An agent that cannot be had: what was asked for, what is wrong, and what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentError(String);

impl AgentError {
    /// An error in this spec.
    pub fn new(spec: impl fmt::Display, problem: impl fmt::Display) -> AgentError {
        AgentError(format!("agent `{spec}`: {problem}"))
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for AgentError {}

impl AgentKind {
    /// The name without a number or settings.
    fn name(&self) -> String {
        match self {
            AgentKind::Random => "random".to_owned(),
            AgentKind::Greedy => "greedy".to_owned(),
            AgentKind::Uniform => "uniform".to_owned(),
            AgentKind::Rollout => "rollout".to_owned(),
            AgentKind::AlphaBeta => "alphabeta".to_owned(),
            AgentKind::Tables(path) => format!("tables:{}", path.display()),
            AgentKind::File(path) => path.display().to_string(),
        }
    }

    fn named(name: &str) -> Option<AgentKind> {
        Some(match name {
            "random" => AgentKind::Random,
            "greedy" => AgentKind::Greedy,
            "uniform" => AgentKind::Uniform,
            "rollout" => AgentKind::Rollout,
            "alphabeta" => AgentKind::AlphaBeta,
            _ => return None,
        })
    }

    /// What the number of the spec counts, if it takes one.
    fn number_means(&self) -> Option<&'static str> {
        match self {
            AgentKind::Random | AgentKind::Greedy | AgentKind::Tables(_) => None,
            AgentKind::Uniform | AgentKind::Rollout | AgentKind::File(_) => Some("simulations"),
            AgentKind::AlphaBeta => Some("nodes"),
        }
    }

    /// The settings it knows.
    pub fn settings(&self) -> &'static [&'static str] {
        match self {
            AgentKind::Random | AgentKind::Greedy => &[],
            AgentKind::Uniform | AgentKind::Rollout => TREE_SETTINGS,
            AgentKind::File(_) => FILE_SETTINGS,
            AgentKind::AlphaBeta => &["nodes", "lines", "mb"],
            AgentKind::Tables(_) => TABLES_SETTINGS,
        }
    }
}

impl AgentSpec {
    /// An agent of this kind with nothing else said.
    pub fn new(kind: AgentKind) -> AgentSpec {
        AgentSpec {
            kind,
            number: None,
            settings: Vec::new(),
        }
    }

    /// The text of a setting, if it is given.
    pub fn setting(&self, key: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// A setting read as a number or a word; the error says what was `expected`.
    pub fn read<T: FromStr>(&self, key: &str, expected: &str) -> Result<Option<T>, AgentError> {
        let read = |value: &str| value.parse().map_err(|_| self.unfit(key, expected));
        self.setting(key).map(read).transpose()
    }

    fn unfit(&self, key: &str, expected: &str) -> AgentError {
        let value = self.setting(key).unwrap_or_default();
        AgentError::new(self, format!("setting {key}={value}: expected {expected}"))
    }

    /// A setting that is a number in this range, if it is there.
    pub fn read_within(
        &self,
        key: &str,
        range: RangeInclusive<f32>,
    ) -> Result<Option<f32>, AgentError> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        let number = self.read(key, &expected)?;
        if number.is_none_or(|number| range.contains(&number)) {
            return Ok(number);
        }
        Err(self.unfit(key, &expected))
    }

    /// The simulations, which are written as the number or as the setting `sims`.
    pub fn simulations(&self) -> Result<Option<u64>, AgentError> {
        let setting = self.read("sims", "a whole number")?;
        if setting.is_some() && self.number.is_some() {
            let problem = "simulations are given twice, as `:NUMBER` and as `sims`";
            return Err(AgentError::new(self, problem));
        }
        Ok(self.number.or(setting))
    }

    /// The same agent with a setting changed or added.
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Result<AgentSpec, AgentError> {
        self.check_key(key)?;
        let value = value.to_string();
        match self.settings.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.settings.push((key.to_owned(), value)),
        }
        Ok(self)
    }

    fn check_key(&self, key: &str) -> Result<(), AgentError> {
        let known = self.kind.settings();
        if known.contains(&key) {
            return Ok(());
        }
        let there_are = if known.is_empty() {
            format!("{} takes none", self.kind.name())
        } else {
            format!("there are {}", known.join(", "))
        };
        let problem = format!("no setting is called `{}`; {there_are}", key.escape_debug());
        Err(AgentError::new(self.kind.name(), problem))
    }
}

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(text: &str) -> Result<AgentSpec, AgentError> {
        let error = |problem: String| AgentError::new(text.escape_debug(), problem);
        let (head, settings) = match text.split_once('?') {
            None => (text, None),
            Some((head, settings)) => (head, Some(settings)),
        };
        let (kind, number) = parse_head(head)
            .ok_or_else(|| error(format!("there is no such agent; there are {AGENTS}")))?;
        let mut spec = AgentSpec::new(kind);
        if let Some(number) = number {
            let Some(unit) = spec.kind.number_means() else {
                return Err(error(format!("{} takes no number", spec.kind.name())));
            };
            let parsed = number.parse().map_err(|_| {
                error(format!(
                    "`{number}` is no number of {unit}; write one like {}:800",
                    spec.kind.name()
                ))
            })?;
            spec.number = Some(parsed);
        }
        for pair in settings.into_iter().flat_map(|text| text.split('&')) {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(error(format!(
                    "`{pair}` is no setting; write KEY=VALUE, joined by `&`"
                )));
            };
            if spec.setting(key).is_some() {
                return Err(error(format!("setting `{key}` is given twice")));
            }
            spec = spec.with(key, value)?;
        }
        Ok(spec)
    }
}

/// The kind and the text of the number. A path may hold a `:`, so only a known name is split off it.
fn parse_head(head: &str) -> Option<(AgentKind, Option<&str>)> {
    if let Some(kind) = AgentKind::named(head) {
        return Some((kind, None));
    }
    if let Some((name, number)) = head.split_once(':')
        && let Some(kind) = AgentKind::named(name)
    {
        return Some((kind, Some(number)));
    }
    if let Some(path) = head.strip_prefix("tables:").filter(|path| !path.is_empty()) {
        return Some((AgentKind::Tables(path.into()), None));
    }
    if head.ends_with(FILE_ENDING) {
        return Some((AgentKind::File(head.into()), None));
    }
    let (path, number) = head.rsplit_once(':')?;
    path.ends_with(FILE_ENDING)
        .then(|| (AgentKind::File(path.into()), Some(number)))
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.kind.name())?;
        if let Some(number) = self.number {
            write!(out, ":{number}")?;
        }
        for (index, (key, value)) in self.settings.iter().enumerate() {
            let sign = if index == 0 { '?' } else { '&' };
            write!(out, "{sign}{key}={value}")?;
        }
        Ok(())
    }
}
