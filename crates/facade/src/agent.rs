//! Agents for a game behind [`AnyGame`](crate::AnyGame), whose type is erased.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "measure")]
use jarmo_core::agent::build_without_search;
use jarmo_core::agent::{
    Agent, AgentError, AgentSource, AgentSpec, Decision, Limit, Memory, Request, Sources, build_from,
};
use jarmo_core::eval::Value;
use jarmo_core::game::{Action, AnyPosition, Game};
use jarmo_core::known::{Endgames, ProofStrategy};
use jarmo_core::net::{FrozenNet, KernelKind};
use jarmo_core::random::Stream;
use jarmo_exact::agent::Networks;
use jarmo_exact::catalog::CatalogGame;

/// An agent for an erased game. Pass it only positions of its own game.
pub trait AnyAgent: Send {
    /// Chooses an action for each request, in their order. No game may be over.
    fn choose(&mut self, requests: Vec<AnyRequest<'_>>) -> Vec<Decision>;
}

/// A position to choose an action for: see [`Request`].
pub struct AnyRequest<'a> {
    /// The position.
    pub position: &'a AnyPosition,
    /// The random stream of this game.
    pub stream: &'a mut Stream,
    /// Limits of time and nodes.
    pub limit: Limit<'a>,
    /// What the agent keeps between its decisions in this game.
    pub memory: Option<&'a mut Memory>,
}

/// An agent to build.
#[derive(Clone)]
pub enum AgentPlan {
    /// The agent of a spec, with the source of its files.
    Spec(Box<AgentSpec>, Files),
    /// A function that returns a legal action for each position. No game is over.
    Function(Arc<Choose>),
}

/// See [`AgentPlan::Function`].
pub type Choose = dyn Fn(&[AnyPosition]) -> Vec<Action> + Send + Sync;

/// The source of the network and the tables that a spec refers to.
#[derive(Clone)]
pub enum Files {
    /// The files of this machine. All agents of this collection share the networks.
    Machine(Networks),
    /// This network. Files and tables are not available.
    Given(Option<FrozenNet>),
}

impl AgentPlan {
    /// An agent with this machine's files.
    pub fn new(spec: AgentSpec, networks: &Networks) -> AgentPlan {
        AgentPlan::Spec(Box::new(spec), Files::Machine(networks.clone()))
    }

    /// An agent that reads no file. If its spec refers to a network, this one is used.
    pub fn given(spec: AgentSpec, net: Option<FrozenNet>) -> AgentPlan {
        AgentPlan::Spec(Box::new(spec), Files::Given(net))
    }

    /// An agent that asks a function: see [`AgentPlan::Function`].
    pub fn function(choose: impl Fn(&[AnyPosition]) -> Vec<Action> + Send + Sync + 'static) -> AgentPlan {
        AgentPlan::Function(Arc::new(choose))
    }

    /// Builds the agent.
    pub(crate) fn build<G: CatalogGame>(&self, game: &G) -> Result<Box<dyn Agent<G>>, AgentError> {
        match self {
            AgentPlan::Spec(spec, files) => build_from(game.clone(), spec, files),
            AgentPlan::Function(choose) => Ok(Box::new(Asking { game: game.clone(), choose: choose.clone() })),
        }
    }

    /// Builds an agent without its search and its tables; `None` if a spec names no network.
    #[cfg(feature = "measure")]
    pub(crate) fn build_without_search<G: CatalogGame>(
        &self,
        game: &G,
    ) -> Result<Option<Box<dyn Agent<G>>>, AgentError> {
        match self {
            AgentPlan::Spec(spec, files) => build_without_search(game.clone(), spec, files),
            AgentPlan::Function(_) => self.build(game).map(Some),
        }
    }
}

/// The spec, or `a function`.
impl fmt::Display for AgentPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentPlan::Spec(spec, _) => spec.fmt(out),
            AgentPlan::Function(_) => out.write_str("a function"),
        }
    }
}

impl<G: CatalogGame> Sources<G> for Files {
    fn network(&self, game: &G, source: &AgentSource, kernel: Option<KernelKind>) -> Result<FrozenNet, String> {
        match self {
            Files::Machine(networks) => networks.network(game, source, kernel),
            Files::Given(net) => net.clone().ok_or_else(|| "its file is missing".to_owned()),
        }
    }

    fn endgames(&self, game: &G, folder: &Path) -> Result<Arc<dyn Endgames<G>>, String> {
        match self {
            Files::Machine(networks) => networks.endgames(game, folder),
            Files::Given(_) => Err("there are no exact tables here".to_owned()),
        }
    }

    fn proof(&self, game: &G) -> Option<Arc<dyn ProofStrategy<G>>> {
        game.proof()
    }
}

/// An agent of game `G` without its type.
pub(crate) struct Seated<G: Game>(pub(crate) Box<dyn Agent<G>>);

impl<G: Game> AnyAgent for Seated<G> {
    fn choose(&mut self, requests: Vec<AnyRequest<'_>>) -> Vec<Decision> {
        let own = requests.into_iter().map(|AnyRequest { position, stream, limit, memory }| Request {
            position: *position.of::<G>(),
            stream,
            limit,
            memory,
        });
        self.0.choose(&mut own.collect::<Vec<_>>())
    }
}

/// A function as an agent.
struct Asking<G> {
    game: G,
    choose: Arc<Choose>,
}

impl<G: Game> Agent<G> for Asking<G> {
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        let positions = requests.iter().map(|request| AnyPosition::new(&self.game, request.position));
        let actions = (self.choose)(&positions.collect::<Vec<_>>());
        let decision =
            |action| Decision { action, value: Value::EVEN, proven: None, nodes: 0, depth: 0, candidates: Vec::new() };
        actions.into_iter().map(decision).collect()
    }
}
