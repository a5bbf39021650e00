//! Agent specs: `rollout:800`, `alphabeta:200000?mb=64`, `best.safetensors?sims=64`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use super::sources::{AgentSource, TRAINED};
use crate::game::{nearest, shorten, shorten_quotes};
use crate::net::KernelKind;
use crate::numbers::{Bounds, LINES, MEGABYTES, NODES, SIMULATIONS, TEMPERATURE};
use crate::search::{Root, SearchSettings};

/// The ending of agent files.
pub const FILE_ENDING: &str = ".safetensors";

/// The maximum length of a spec: that of a path on most systems.
const MOST_BYTES: usize = 4096;

/// The syntax of all agents, for messages and help.
pub const AGENTS: &str = "random, greedy, uniform:SIMULATIONS, rollout:SIMULATIONS, \
                          alphabeta:NODES, trained?sims=SIMULATIONS (part of the program), \
                          an agent file FILE.safetensors?sims=SIMULATIONS, \
                          or a run's folder, run:FOLDER or run:FOLDER@STEP";

/// The agents that are named by a word, not by a file.
const NAMES: [&str; 6] = ["random", "greedy", "uniform", "rollout", "alphabeta", TRAINED];

/// An agent and its settings, written `KIND[:NUMBER][?KEY=VALUE[&KEY=VALUE…]]`.
///
/// The settings are a URL query without escapes. An agent file's path must not contain `?`, and a path
/// in a setting must not contain `&`.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentSpec {
    /// Random legal actions.
    Random,
    /// Search of one ply with a hand-written evaluation.
    Greedy,
    /// Tree search with the uniform evaluator.
    Uniform(TreeSpec),
    /// Tree search with random playouts from its leaves.
    Rollout(TreeSpec),
    /// Alpha-beta search with a hand-written evaluation.
    AlphaBeta(AlphaBetaSpec),
    /// Tree search with a trained network.
    Network(AgentSource, TreeSpec),
}

/// Settings of an agent with tree search. Unset fields have the agent's defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSpec {
    /// Simulations per decision; with 0, an agent with a network plays its policy without search.
    pub sims: Option<u32>,
    /// The search rule.
    pub root: Option<Root>,
    /// The settings of the rule: this and the next five are described in [`SearchSettings`].
    pub considered: Option<u32>,
    #[expect(missing_docs)]
    #[serde(default, serialize_with = "shown")]
    pub least_range: Option<f32>,
    #[expect(missing_docs)]
    #[serde(default, serialize_with = "shown")]
    pub c_puct: Option<f32>,
    #[expect(missing_docs)]
    #[serde(default, serialize_with = "shown")]
    pub fpu: Option<f32>,
    /// Only with a network.
    #[serde(default, serialize_with = "shown")]
    pub temperature: Option<f32>,
    #[expect(missing_docs)]
    #[serde(default, serialize_with = "shown")]
    pub min_visit_share: Option<f32>,
    /// With a network: softmax temperature at which the action is drawn from the policy; the best one is played if
    /// unset.
    #[serde(default, serialize_with = "shown")]
    pub sampling: Option<f32>,
    /// Whether the tree is kept between decisions in a game.
    pub keep: Option<YesNo>,
    /// Memory limit of the tree, in megabytes.
    pub mb: Option<u32>,
    /// A folder of exact tables. The agent follows them where they know the result; elsewhere search looks up every
    /// leaf.
    #[serde(default, serialize_with = "path")]
    pub tables: Option<PathBuf>,
    /// With a network: whether the wins of the program's own proof are played without search.
    pub proof: Option<YesNo>,
    /// With a network: the kernel; if unset, the fastest one for this CPU.
    pub kernel: Option<KernelKind>,
}

/// The settings of tree agents without a network.
const WITHOUT_NETWORK: [&str; 10] =
    ["sims", "root", "considered", "least_range", "c_puct", "fpu", "min_visit_share", "keep", "mb", "tables"];

/// Settings of alpha-beta.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaBetaSpec {
    /// Nodes per decision.
    pub nodes: Option<u64>,
    /// The number of best lines with exact scores.
    pub lines: Option<u32>,
    /// Memory of the transposition table, in megabytes.
    pub mb: Option<u32>,
    /// A folder of exact tables, which the agent follows where they know the result.
    #[serde(default, serialize_with = "path")]
    pub tables: Option<PathBuf>,
}

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum YesNo {
    /// On.
    Yes,
    /// Off.
    No,
}

/// The settings that are numbers, besides those of [`SearchSettings`].
const NUMBERS: [(&str, Bounds); 5] = [
    ("sims", Bounds::Whole(SIMULATIONS)),
    ("nodes", Bounds::Whole(NODES)),
    ("lines", Bounds::Whole(LINES)),
    ("mb", Bounds::Whole(MEGABYTES)),
    ("sampling", Bounds::Real(TEMPERATURE)),
];

/// An agent that cannot be built, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("agent `{agent}`: {problem}")]
pub struct AgentError {
    agent: String,
    problem: String,
}

impl AgentError {
    /// An error with this spec.
    pub fn new(spec: impl fmt::Display, problem: impl fmt::Display) -> AgentError {
        AgentError { agent: shorten(&spec.to_string()), problem: problem.to_string() }
    }
}

impl TreeSpec {
    /// The settings of its search.
    pub fn search(&self) -> SearchSettings {
        let &TreeSpec { root, considered, least_range, c_puct, fpu, temperature, min_visit_share, .. } = self;
        SearchSettings { root, considered, least_range, c_puct, fpu, temperature, min_visit_share }
    }
}

/// Bytes of this many megabytes.
pub(super) fn bytes_of(megabytes: u32) -> usize {
    (megabytes as usize) << 20
}

impl AgentSpec {
    /// The same agent with this many simulations or nodes per decision, if it has that setting.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u64) -> AgentSpec {
        if let AgentSpec::AlphaBeta(settings) = &mut self {
            settings.nodes = Some(nodes);
        } else if let Some(tree) = self.tree_mut() {
            tree.sims = Some(nodes.min(SIMULATIONS.most) as u32);
        }
        self
    }

    /// The folder of exact tables that it names, if it can name one.
    pub fn tables_mut(&mut self) -> Option<&mut Option<PathBuf>> {
        match self {
            AgentSpec::AlphaBeta(given) => Some(&mut given.tables),
            _ => Some(&mut self.tree_mut()?.tables),
        }
    }

    /// The settings of its tree search, if it has one.
    pub fn tree_mut(&mut self) -> Option<&mut TreeSpec> {
        match self {
            AgentSpec::Uniform(tree) | AgentSpec::Rollout(tree) | AgentSpec::Network(_, tree) => Some(tree),
            AgentSpec::Random | AgentSpec::Greedy | AgentSpec::AlphaBeta(_) => None,
        }
    }
}

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(text: &str) -> Result<AgentSpec, AgentError> {
        parse(text).map_err(|problem| AgentError::new(text, problem))
    }
}

fn parse(text: &str) -> Result<AgentSpec, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("an agent's spec has at most {MOST_BYTES} bytes"));
    }
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
        "uniform" => AgentSpec::Uniform(read_without_network(&query("sims"))?),
        "rollout" => AgentSpec::Rollout(read_without_network(&query("sims"))?),
        "alphabeta" => AgentSpec::AlphaBeta(read(&query("nodes"))?),
        TRAINED => AgentSpec::Network(AgentSource::Program, read(&query("sims"))?),
        _ if name.ends_with(FILE_ENDING) => AgentSpec::Network(AgentSource::File(name.into()), read(&query("sims"))?),
        _ => {
            let name = head.split(':').next().unwrap_or_default();
            let meant = nearest(name, NAMES).map_or(String::new(), |meant| format!(" (did you mean `{meant}`?)"));
            return Err(format!("unknown agent{meant}; agents are {AGENTS}"));
        }
    })
}

/// Splits the number from the name before the settings. A path may contain a `:`.
fn split_number(head: &str) -> (&str, Option<&str>) {
    match head.rsplit_once(':') {
        Some((name, number)) if NAMES.contains(&name) || name.ends_with(FILE_ENDING) => (name, Some(number)),
        _ => (head, None),
    }
}

/// Reads the settings of a tree agent without a network.
fn read_without_network(query: &str) -> Result<TreeSpec, String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    match pairs.find(|(key, _)| !WITHOUT_NETWORK.contains(key)) {
        None => read(query),
        Some((key, value)) => Err(format!(
            "setting {}: unknown field `{}`, expected one of `{}`",
            shorten(&format!("{key}={value}")),
            shorten(key),
            WITHOUT_NETWORK.join("`, `")
        )),
    }
}

/// Reads the settings of an agent. The error names the setting and what is expected.
fn read<T: DeserializeOwned>(query: &str) -> Result<T, String> {
    // Specs have no escapes, so the characters that the parser takes for escapes are escaped.
    let parse = |text: &str| serde_urlencoded::from_str::<T>(&text.replace('%', "%25").replace('+', "%2B"));
    let pairs = || query.split('&').filter(|_| !query.is_empty());
    for pair in pairs() {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!("`{}` is not a setting; write KEY=VALUE, joined by `&`", shorten(pair)));
        };
        if let Some(problem) = violated_bounds(key, value) {
            return Err(format!("setting {}: {problem}", shorten(pair)));
        }
    }
    parse(query).map_err(|error| match pairs().find(|pair| parse(pair).is_err()) {
        Some(pair) => {
            let error = shorten_quotes(&error.to_string());
            format!("setting {}: {error}", shorten(pair))
        }
        None => format!("a setting or the number is given twice: {error}"),
    })
}

/// What is wrong with the value of a numeric setting, if anything.
fn violated_bounds(key: &str, value: &str) -> Option<String> {
    match NUMBERS.iter().chain(&SearchSettings::BOUNDS).find(|(name, _)| *name == key)?.1 {
        Bounds::Whole(range) => range.parse::<u64>(value).err().map(|error| error.to_string()),
        Bounds::Real(range) => range.parse::<f64>(value).err().map(|error| error.to_string()),
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentSpec::Random => out.write_str("random"),
            AgentSpec::Greedy => out.write_str("greedy"),
            AgentSpec::Uniform(settings) => write_counting(out, "uniform", &pairs(settings)),
            AgentSpec::Rollout(settings) => write_counting(out, "rollout", &pairs(settings)),
            AgentSpec::AlphaBeta(settings) => write_counting(out, "alphabeta", &pairs(settings)),
            AgentSpec::Network(source, settings) => {
                write!(out, "{source}")?;
                write_query(out, &pairs(settings))
            }
        }
    }
}

/// The settings that are set, in declaration order.
pub(super) fn pairs(settings: &impl Serialize) -> Vec<(String, String)> {
    let query = serde_urlencoded::to_string(settings).expect("settings are plain values");
    serde_urlencoded::from_str(&query).expect("what was just written")
}

/// Writes the settings of a built-in agent, with its simulations or nodes as the number.
fn write_counting(out: &mut fmt::Formatter<'_>, name: &str, pairs: &[(String, String)]) -> fmt::Result {
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

/// Writes `2` rather than `2.0`.
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
