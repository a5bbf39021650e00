//! Players: people, agents by spec, and agents at a level; and a cache that keeps a few agents between moves.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use crate::levels::Level;
use crate::specs::{self, GameAgents, Strength};
use jarmo_exact::agent::{Agent, AgentError, AgentSpec, Networks};
use jarmo_exact::catalog::CatalogGame;

/// Agents kept by one search thread; each may hold megabytes of search tables.
const CACHE_SIZE: usize = 3;

/// Time per move of an agent that plays at a level.
pub const MOVE_TIME: Duration = Duration::from_millis(850);

/// Who plays one of the two sides.
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
    pub fn parse<G: CatalogGame>(game: &G, text: &str, networks: &Networks) -> Result<Seat, String> {
        if text == "human" {
            return Ok(Seat::Human);
        }
        if let Some(level) = Level::parse(text) {
            return Ok(Seat::Level(level));
        }
        let spec: Result<AgentSpec, _> = text.parse().map_err(|error: AgentError| error.to_string());
        // Building the agent once shows whether it can play the game.
        let built = spec.and_then(|spec| specs::build(game, &Strength::of(spec.clone()), networks).map(|_| spec));
        built.map(Seat::Spec).map_err(|error| {
            let levels = Level::ALL.map(Level::name).join(", ");
            format!("{error}; a player is `human`, a level ({levels}), or an agent's spec")
        })
    }

    /// The agent that plays here, if one does.
    pub(crate) fn agent(&self, agents: &GameAgents) -> Option<Strength> {
        match self {
            Seat::Human => None,
            Seat::Level(level) => Some(agents.of_level(*level)),
            Seat::Spec(spec) => Some(Strength::of(spec.clone())),
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

/// A few agents of any game, most recently used first.
#[derive(Default)]
pub struct AgentCache {
    agents: Vec<(String, Box<dyn Any + Send>)>,
}

impl AgentCache {
    /// The agent of this strength for this game, built if the cache has none. `variant` separates different
    /// settings of the same game.
    pub(crate) fn agent<G: CatalogGame>(
        &mut self,
        game: &G,
        variant: &str,
        strength: &Strength,
        networks: &Networks,
    ) -> Result<&mut dyn Agent<G>, String> {
        let (spec, tables) = (&strength.spec, &strength.tables);
        let key = format!("{}/{variant}/{spec}/{tables:?}", game.id());
        let entry = match self.agents.iter().position(|(other, _)| *other == key) {
            Some(place) => self.agents.remove(place),
            None => {
                let agent: Box<dyn Agent<G>> = specs::build(game, strength, networks)?;
                self.agents.truncate(CACHE_SIZE - 1);
                (key, Box::new(agent) as Box<dyn Any + Send>)
            }
        };
        self.agents.insert(0, entry);
        let agent = self.agents[0].1.downcast_mut::<Box<dyn Agent<G>>>();
        Ok(agent.expect("a key names one game").as_mut())
    }
}
