//! Players: people, agents by spec, and agents at a level; and a cache that keeps a few agents between moves.

use std::fmt;
use std::time::Duration;

use crate::error::SessionError;
use crate::levels::Level;
use crate::specs::{self, GameAgents, LimitedAgent};
use crate::thought::Question;
use jarmo_exact::agent::{AgentError, AgentSpec, Networks};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::{AgentPlan, AnyAgent, AnyGame};

/// Agents kept by one search thread; each may hold megabytes of search tables.
const CACHE_SIZE: usize = 3;

/// Time per move of an agent that plays at a level.
pub const MOVE_TIME: Duration = Duration::from_millis(850);

/// The player of one side.
#[derive(Clone, Debug, PartialEq)]
pub enum Seat {
    /// A person.
    Human,
    /// An agent at one of the levels.
    Level(Level),
    /// An agent by its spec.
    Spec(AgentSpec),
}

impl Seat {
    /// Parses `human`, a level's name, or the spec of an agent that can play the game.
    pub fn parse(game: &dyn AnyGame, text: &str, networks: &Networks) -> Result<Seat, SessionError> {
        if text == "human" {
            return Ok(Seat::Human);
        }
        if let Some(level) = Level::parse(text) {
            return Ok(Seat::Level(level));
        }
        let spec: Result<AgentSpec, AgentError> = text.parse();
        // Building the agent once shows whether it can play the game.
        let built = spec.and_then(|spec| game.agent(&AgentPlan::new(spec.clone(), networks)).map(|_| spec));
        built.map(Seat::Spec).map_err(|error| {
            let levels = Level::ALL.map(Level::name).join(", ");
            let meant = meant(text).map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            let players = format_args!("a player is `human`, a level ({levels}), or an agent's spec{meant}");
            SessionError::new(format_args!("{error}; {players}"))
        })
    }

    /// The agent of this side, if an agent plays it.
    pub(crate) fn agent(&self, agents: &GameAgents) -> Option<LimitedAgent> {
        match self {
            Seat::Human => None,
            Seat::Level(level) => Some(agents.of_level(*level)),
            Seat::Spec(spec) => Some(LimitedAgent::of(spec.clone())),
        }
    }

    /// The name for records and for people elsewhere: without the folders of this machine.
    pub fn name(&self) -> String {
        match self {
            Seat::Spec(spec) => specs::named(spec).to_string(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seat::Human => out.write_str("human"),
            Seat::Level(level) => out.write_str(level.name()),
            Seat::Spec(spec) => spec.fmt(out),
        }
    }
}

/// The player whose name differs from this text by one or two typing errors, such as `mediun`.
fn meant(typed: &str) -> Option<&'static str> {
    const OTHERS: [&str; 7] = ["human", "random", "greedy", "uniform", "rollout", "alphabeta", "trained"];
    let typed = typed.split([':', '?']).next().filter(|typed| typed.len() < 20)?;
    let names = Level::ALL.into_iter().map(Level::name).chain(OTHERS);
    let near =
        names.map(|name| (edits(typed, name), name)).filter(|(edits, name)| (1..name.len()).contains(&(2 * edits)));
    near.min().map(|(_, name)| name)
}

/// The number of letters to insert, delete or replace until one text is the other (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect(); // from the letters so far to each beginning of `to`
    for (count, letter) in from.bytes().enumerate() {
        let mut before = std::mem::replace(&mut row[0], count + 1);
        for (place, other) in to.bytes().enumerate() {
            let replaced = before + usize::from(letter != other);
            before = row[place + 1];
            row[place + 1] = replaced.min(before + 1).min(row[place] + 1);
        }
    }
    row[to.len()]
}

/// A few agents of any game, most recently used first.
#[derive(Default)]
pub struct AgentCache(Vec<(Key, Box<dyn AnyAgent>)>);

/// The key of an agent: the game with its settings, and the spec.
#[derive(PartialEq)]
struct Key {
    game: &'static str,
    settings: GameSettings,
    spec: AgentSpec,
}

impl AgentCache {
    /// This agent for the game of a question, built if the cache has none.
    pub(crate) fn agent(
        &mut self,
        question: &Question,
        agent: &LimitedAgent,
    ) -> Result<&mut dyn AnyAgent, SessionError> {
        let (game, spec) = (&question.game, &agent.spec);
        let key = Key { game: game.facts().name, settings: question.settings.clone(), spec: spec.clone() };
        let entry = match self.0.iter().position(|(other, _)| *other == key) {
            Some(place) => self.0.remove(place),
            None => {
                let plan = AgentPlan::new(spec.clone(), &question.networks);
                let agent = game.agent(&plan).map_err(SessionError::new)?;
                self.0.truncate(CACHE_SIZE - 1);
                (key, agent)
            }
        };
        self.0.insert(0, entry);
        Ok(self.0[0].1.as_mut())
    }
}
