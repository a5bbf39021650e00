//! The text that names an agent: `rollout:800`, `alphabeta:200000?mb=64`, `best.safetensors?sims=64`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use crate::net::KernelKind;

/// How the name of an agent file ends.
pub(super) const FILE_ENDING: &str = ".safetensors";

/// What agents are written like, for messages and help.
pub const AGENTS: &str = "random, greedy, uniform:SIMULATIONS, rollout:SIMULATIONS, \
                          alphabeta:NODES, tables:DIR, or an agent file FILE.safetensors?sims=SIMULATIONS";

/// An agent as it is written: `KIND[:NUMBER][?KEY=VALUE[&KEY=VALUE…]]`.
///
/// The settings are a URL query without its escapes: a path may hold any character but `?` before the
/// settings, and any but `&` as a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentSpec {
    /// Any legal action.
    Random,
    /// The best action as it looks one ply ahead.
    Greedy,
    /// Tree search that knows nothing of the game but its rules.
    Uniform(TreeSpec),
    /// Tree search with random games from its leaves.
    Rollout(TreeSpec),
    /// Depth-first search with a simple evaluation.
    AlphaBeta(AlphaBetaSpec),
    /// Perfect play where the exact tables of this folder reach, rollouts elsewhere.
    Tables(PathBuf, TablesSpec),
    /// Tree search with the trained network of this file.
    File(PathBuf, NetworkSpec),
}

/// Settings of an agent that grows a tree. Unset ones have the agent's defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSpec {
    /// Simulations for each action.
    pub sims: Option<u32>,
    /// The rule of search.
    pub root: Option<RootRule>,
    /// PUCT's weight of exploration.
    #[serde(default, serialize_with = "shown")]
    pub cpuct: Option<f32>,
    /// How much worse than its parent PUCT takes an unvisited action to be.
    #[serde(default, serialize_with = "shown")]
    pub fpu: Option<f32>,
    /// Whether the tree is kept for the next choice in a game.
    pub keep: Option<YesNo>,
    /// The most memory of the tree, in megabytes.
    pub mb: Option<u32>,
    /// A folder of exact tables.
    #[serde(default, serialize_with = "path")]
    pub tables: Option<PathBuf>,
}

/// Settings of an agent that grows a tree and has its tables already.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablesSpec {
    /// Simulations for each action.
    pub sims: Option<u32>,
    /// The rule of search.
    pub root: Option<RootRule>,
    /// PUCT's weight of exploration.
    #[serde(default, serialize_with = "shown")]
    pub cpuct: Option<f32>,
    /// How much worse than its parent PUCT takes an unvisited action to be.
    #[serde(default, serialize_with = "shown")]
    pub fpu: Option<f32>,
    /// Whether the tree is kept for the next choice in a game.
    pub keep: Option<YesNo>,
    /// The most memory of the tree, in megabytes.
    pub mb: Option<u32>,
}

/// Settings of an agent file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Simulations for each action; 0 asks the network alone.
    pub sims: Option<u32>,
    /// The rule of search.
    pub root: Option<RootRule>,
    /// PUCT's weight of exploration.
    #[serde(default, serialize_with = "shown")]
    pub cpuct: Option<f32>,
    /// How much worse than its parent PUCT takes an unvisited action to be.
    #[serde(default, serialize_with = "shown")]
    pub fpu: Option<f32>,
    /// PUCT's softmax temperature of the priors; 1 leaves them unchanged.
    #[serde(default, serialize_with = "shown")]
    pub temperature: Option<f32>,
    /// Whether the tree is kept for the next choice in a game.
    pub keep: Option<YesNo>,
    /// The most memory of the tree, in megabytes.
    pub mb: Option<u32>,
    /// A folder of exact tables.
    #[serde(default, serialize_with = "path")]
    pub tables: Option<PathBuf>,
    /// The kernel, in place of the fastest one of this processor.
    pub kernel: Option<KernelKind>,
}

/// Settings of alpha-beta.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaBetaSpec {
    /// Nodes for each action.
    pub nodes: Option<u64>,
    /// How many of the best lines it follows exactly.
    pub lines: Option<u32>,
    /// The most memory for remembered positions, in megabytes.
    pub mb: Option<u32>,
}

/// The rules of tree search that a spec can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootRule {
    /// Sequential halving at the root and the improved policy below.
    Gumbel,
    /// AlphaZero's rule everywhere.
    Puct,
}

/// An answer to a question of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum YesNo {
    /// It is so.
    Yes,
    /// It is not.
    No,
}

/// The whole numbers that settings can be.
const WHOLE: [(&str, u64, u64); 4] = [
    ("sims", 0, u32::MAX as u64),
    ("nodes", 1, 1 << 50),
    ("lines", 1, 64),
    ("mb", 1, 1 << 20),
];

/// The other numbers that settings can be.
const REAL: [(&str, f32, f32); 3] = [
    ("cpuct", 0.0, 100.0),
    ("fpu", 0.0, 100.0),
    ("temperature", 0.01, 100.0),
];

/// An agent that cannot be had: what was asked for, what is wrong, and what there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("agent `{agent}`: {problem}")]
pub struct AgentError {
    agent: String,
    problem: String,
}

impl AgentError {
    /// An error in this spec.
    pub fn new(spec: impl fmt::Display, problem: impl fmt::Display) -> AgentError {
        AgentError {
            agent: spec.to_string(),
            problem: problem.to_string(),
        }
    }
}

/// Bytes of this many megabytes.
pub(super) fn bytes_of(megabytes: u32) -> usize {
    (megabytes as usize) << 20
}

impl TablesSpec {
    /// The same for an agent that has its tables elsewhere.
    pub(super) fn tree(&self) -> TreeSpec {
        TreeSpec {
            sims: self.sims,
            root: self.root,
            cpuct: self.cpuct,
            fpu: self.fpu,
            keep: self.keep,
            mb: self.mb,
            tables: None,
        }
    }
}

impl NetworkSpec {
    /// What of it belongs to every tree.
    pub(super) fn tree(&self) -> TreeSpec {
        TreeSpec {
            sims: self.sims,
            root: self.root,
            cpuct: self.cpuct,
            fpu: self.fpu,
            keep: self.keep,
            mb: self.mb,
            tables: self.tables.clone(),
        }
    }
}

impl AgentSpec {
    /// The same agent with this many simulations or nodes for each action, if it counts any.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u64) -> AgentSpec {
        let sims = Some(u32::try_from(nodes).unwrap_or(u32::MAX));
        match &mut self {
            AgentSpec::Random | AgentSpec::Greedy => {}
            AgentSpec::Uniform(settings) | AgentSpec::Rollout(settings) => settings.sims = sims,
            AgentSpec::AlphaBeta(settings) => settings.nodes = Some(nodes),
            AgentSpec::Tables(_, settings) => settings.sims = sims,
            AgentSpec::File(_, settings) => settings.sims = sims,
        }
        self
    }
}

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(text: &str) -> Result<AgentSpec, AgentError> {
        parse(text).map_err(|problem| AgentError::new(text.escape_debug(), problem))
    }
}

fn parse(text: &str) -> Result<AgentSpec, String> {
    let (head, query) = match text.split_once('?') {
        None => (text, None),
        Some((_, "")) => return Err("no setting follows the `?`".to_owned()),
        Some((head, query)) => (head, Some(query)),
    };
    let (name, number) = split_number(head);
    let query = |key: &str| -> String {
        let number = number.map(|number| format!("{key}={number}"));
        let parts: Vec<&str> = number.as_deref().into_iter().chain(query).collect();
        parts.join("&")
    };
    Ok(match name {
        "random" | "greedy" if !query("").is_empty() => {
            return Err(format!("{name} takes no number and no settings"));
        }
        "random" => AgentSpec::Random,
        "greedy" => AgentSpec::Greedy,
        "uniform" => AgentSpec::Uniform(read(&query("sims"))?),
        "rollout" => AgentSpec::Rollout(read(&query("sims"))?),
        "alphabeta" => AgentSpec::AlphaBeta(read(&query("nodes"))?),
        _ => match name.strip_prefix("tables:") {
            Some(folder) if !folder.is_empty() => {
                AgentSpec::Tables(folder.into(), read(&query("sims"))?)
            }
            None if name.ends_with(FILE_ENDING) => {
                AgentSpec::File(name.into(), read(&query("sims"))?)
            }
            _ => return Err(format!("there is no such agent; there are {AGENTS}")),
        },
    })
}

/// Splits a number off the name before the settings. A path may hold a `:`.
fn split_number(head: &str) -> (&str, Option<&str>) {
    const COUNTING: [&str; 5] = ["random", "greedy", "uniform", "rollout", "alphabeta"];
    match head.rsplit_once(':') {
        Some((name, number))
            if COUNTING.contains(&name)
                || name.ends_with(FILE_ENDING) && !name.starts_with("tables:") =>
        {
            (name, Some(number))
        }
        _ => (head, None),
    }
}

/// Reads the settings of an agent; the error names the setting and what was expected.
fn read<T: DeserializeOwned>(query: &str) -> Result<T, String> {
    // The text has no escapes, so what looks like one is escaped.
    let parse =
        |text: &str| serde_urlencoded::from_str::<T>(&text.replace('%', "%25").replace('+', "%2B"));
    let pairs = || query.split('&').filter(|_| !query.is_empty());
    for pair in pairs() {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!(
                "`{pair}` is no setting; write KEY=VALUE, joined by `&`"
            ));
        };
        if let Some(expected) = bounds_missed(key, value) {
            return Err(format!("setting {pair}: expected {expected}"));
        }
    }
    parse(query).map_err(|error| match pairs().find(|pair| parse(pair).is_err()) {
        Some(pair) => format!("setting {pair}: {error}"),
        None => format!("a setting, or the number, is given twice: {error}"),
    })
}

/// What a setting can be, if it is a number and this is none that it can be.
fn bounds_missed(key: &str, value: &str) -> Option<String> {
    if let Some((_, least, most)) = WHOLE.iter().find(|(name, ..)| *name == key) {
        let fits = |number: u64| (*least..=*most).contains(&number);
        let fits = value.parse().is_ok_and(fits);
        return (!fits).then(|| format!("a whole number from {least} to {most}"));
    }
    let (_, least, most) = REAL.iter().find(|(name, ..)| *name == key)?;
    let fits = |number: f32| (*least..=*most).contains(&number);
    let fits = value.parse().is_ok_and(fits);
    (!fits).then(|| format!("a number from {least} to {most}"))
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentSpec::Random => out.write_str("random"),
            AgentSpec::Greedy => out.write_str("greedy"),
            AgentSpec::Uniform(settings) => write_counting(out, "uniform", &pairs(settings)),
            AgentSpec::Rollout(settings) => write_counting(out, "rollout", &pairs(settings)),
            AgentSpec::AlphaBeta(settings) => write_counting(out, "alphabeta", &pairs(settings)),
            AgentSpec::Tables(folder, settings) => {
                write!(out, "tables:{}", folder.display())?;
                write_query(out, &pairs(settings))
            }
            AgentSpec::File(file, settings) => {
                write!(out, "{}", file.display())?;
                write_query(out, &pairs(settings))
            }
        }
    }
}

/// The settings that are set, in the order of their declaration.
pub(super) fn pairs(settings: &impl Serialize) -> Vec<(String, String)> {
    let query = serde_urlencoded::to_string(settings).expect("settings are plain values");
    serde_urlencoded::from_str(&query).expect("what was just written")
}

/// Writes the settings of a built-in agent, simulations or nodes as its number.
fn write_counting(
    out: &mut fmt::Formatter<'_>,
    name: &str,
    pairs: &[(String, String)],
) -> fmt::Result {
    out.write_str(name)?;
    match pairs {
        [(key, number), rest @ ..] if ["sims", "nodes"].contains(&key.as_str()) => {
            write!(out, ":{number}")?;
            write_query(out, rest)
        }
        _ => write_query(out, pairs),
    }
}

fn write_query(out: &mut fmt::Formatter<'_>, pairs: &[(String, String)]) -> fmt::Result {
    for (index, (key, value)) in pairs.iter().enumerate() {
        let sign = if index == 0 { '?' } else { '&' };
        write!(out, "{sign}{key}={value}")?;
    }
    Ok(())
}

/// Writes a number as people do: `2` rather than `2.0`.
fn shown<S: Serializer>(number: &Option<f32>, out: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => out.collect_str(number),
        None => out.serialize_none(),
    }
}

fn path<S: Serializer>(path: &Option<PathBuf>, out: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => out.collect_str(&path.display()),
        None => out.serialize_none(),
    }
}
