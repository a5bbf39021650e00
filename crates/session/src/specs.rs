//! The available agents: the agent behind each level, where trained agents and exact tables are found, and
//! which specs a remote user may choose.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agents::MOVE_TIME;
use crate::levels::Level;
use jarmo_exact::ExactErrorKind;
use jarmo_exact::agent::{self, AgentSource, AgentSpec, AlphaBetaSpec, Networks, TreeSpec, YesNo};
use jarmo_facade::{AnyEndgames, AnyGame, Games};

/// The size of an agent's search table or tree. A search thread keeps a few agents. Forced moves take room in a tree,
/// too: with 32, an analysis of tammi ended after 49,985 of [`REVIEW_SIMULATIONS`].
const MEGABYTES: u32 = 40;

/// The same for the agent of *Search on*. It is not kept between its searches.
const DEEP_MEGABYTES: u32 = 256;

/// Root moves that an analysis evaluates exactly.
const LINES: u32 = 3;

/// More nodes than any search reaches. The search looks at the clock only if it has a node limit.
const UNREACHABLE_NODES: u64 = 1 << 40;

/// Time limit per position in an analysis. Only slow machines reach it before the limit of simulations.
const STUDY: Duration = Duration::from_secs(2);

/// Simulations or nodes per position in an analysis: a few tenths of a second.
const REVIEW_SIMULATIONS: u64 = 50_000;
const REVIEW_NODES: u64 = 1_000_000;
const REVIEW_PLAYOUTS: u64 = 5_000;

/// Most nodes or simulations per move that a remote user may choose: a few seconds.
const MOST_NODES: u64 = 2_000_000;
const MOST_SIMULATIONS: u32 = 10_000;

/// An agent and its limits per move.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedAgent {
    /// The agent.
    pub spec: AgentSpec,
    /// Nodes or simulations, if limited.
    pub nodes: Option<u64>,
    /// The time that it may use; without it, only its spec limits it.
    pub time: Option<Duration>,
}

impl LimitedAgent {
    /// An agent with its spec's own limits.
    pub fn of(spec: AgentSpec) -> LimitedAgent {
        LimitedAgent { spec, nodes: None, time: None }
    }
}

/// The trained agents and exact tables of this machine.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Folders searched in order for `GAME.safetensors`.
    pub agents: Vec<PathBuf>,
    /// Whether the program's own agents play the games that have no agent in any folder.
    pub built_in: bool,
    /// The folder of exact tables.
    pub tables: Option<PathBuf>,
    /// The networks that have been loaded.
    pub networks: Networks,
    /// The games that are opened by name.
    pub games: Games,
    /// Whether only games with a board are opened.
    pub needs_layout: bool,
}

impl Store {
    /// The trained agent of a game.
    fn trained(&self, game: &str) -> Option<AgentSource> {
        let file = format!("{game}.safetensors");
        let mut files = self.agents.iter().map(|folder| folder.join(&file));
        let file = files.find(|path| agent::is_file(path)).map(AgentSource::File);
        let built_in = agent::trained(game).filter(|_| self.built_in);
        file.or(built_in)
    }

    /// A text for remote users: without the folders of this machine's agents and tables, and without those in the specs
    /// of these seats.
    pub fn without_folders(&self, text: &str, seats: &[String]) -> String {
        let mut folders = self.agents.clone();
        folders.extend(self.tables.clone());
        for mut spec in seats.iter().filter_map(|seat| seat.parse::<AgentSpec>().ok()) {
            folders.extend(spec.tables_mut().and_then(Option::take));
            if let AgentSpec::Network(AgentSource::File(path), _) = spec {
                folders.extend(path.parent().map(Into::into));
            }
        }
        folders.retain(|folder| folder.parent().is_some()); // not the root, and not nothing
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.as_os_str().len()));
        folders.iter().fold(text.to_owned(), |text, folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let (inside, folder) = (folder.join("").display().to_string(), folder.display().to_string());
            text.replace(&inside, "").replace(&format!("{folder}/"), "").replace(&folder, &name)
        })
    }

    /// Whether the trained agent of a game is the one that is part of the program.
    pub(crate) fn is_usual(&self, game: &str) -> bool {
        self.trained(game).is_some_and(|source| agent::is_trained(&source, game))
    }
}

/// The agents for one game: one per level, and those that evaluate and review.
#[derive(Clone, Debug, Default)]
pub struct GameAgents {
    game: &'static str,
    trained: Option<Result<AgentSource, String>>, // or why it cannot be loaded
    /// The folder of exact tables, if it has those of the game.
    pub tables: Option<PathBuf>,
    proof: bool, // the program has a proof of some wins
    /// Whether the game has an evaluation. The best level without a trained agent is then alpha-beta search, and otherwise
    /// a search with playouts.
    pub(crate) evaluates: bool,
    /// The networks that these agents share.
    pub(crate) networks: Networks,
}

impl GameAgents {
    /// The agents of a store for this game. A trained agent that cannot be loaded is [`GameAgents::refused`].
    pub(crate) fn of(game: &dyn AnyGame, store: &Store, tables: bool) -> GameAgents {
        let facts = game.facts();
        let trained = store.trained(facts.name).map(|source| match game.load_network(&store.networks, &source) {
            Ok(()) => Ok(source),
            Err(error) => Err(format!("{source}: {}", error.problem())),
        });
        GameAgents {
            game: facts.name,
            trained,
            tables: store.tables.clone().filter(|_| tables),
            proof: game.has_proof(),
            evaluates: facts.has_heuristic,
            networks: store.networks.clone(),
        }
    }

    /// Whether the strongest agent is a trained one; otherwise it is built in.
    pub fn is_trained(&self) -> bool {
        matches!(self.trained, Some(Ok(_)))
    }

    /// The error if the trained agent cannot be loaded.
    pub fn refused(&self) -> Option<&str> {
        self.trained.as_ref()?.as_ref().err().map(String::as_str)
    }

    /// The agent for hints and the evaluation bar. It uses all of its time.
    pub fn analyst(&self, time: Duration) -> LimitedAgent {
        LimitedAgent { time: Some(time), ..self.strongest(Some(LINES)) }
    }

    /// The agent that evaluates all positions of a game. It has a fixed number of nodes or simulations, so the
    /// analysis of a game can be repeated.
    pub fn reviewer(&self) -> LimitedAgent {
        LimitedAgent {
            nodes: Some(match (self.is_trained(), self.evaluates) {
                (true, _) => REVIEW_SIMULATIONS,
                (false, true) => REVIEW_NODES,
                (false, false) => REVIEW_PLAYOUTS,
            }),
            ..self.analyst(STUDY)
        }
    }

    /// The agent of *Search on*, for this round (from 1). The first round has twice as many nodes or simulations as the
    /// reviewer, and each further round twice as many as the one before.
    pub(crate) fn deepened(&self, round: u32) -> LimitedAgent {
        let mut agent = LimitedAgent { time: None, ..self.reviewer() };
        agent.nodes = agent.nodes.map(|nodes| nodes << round);
        if let AgentSpec::AlphaBeta(search) = &mut agent.spec {
            search.mb = Some(DEEP_MEGABYTES);
        } else if let Some(tree) = agent.spec.tree_mut() {
            tree.mb = Some(DEEP_MEGABYTES);
        }
        agent
    }

    /// The agent that plays at a level.
    pub fn of_level(&self, level: Level) -> LimitedAgent {
        let agent = match (level, &self.trained) {
            (Level::Newcomer, _) => LimitedAgent::of(AgentSpec::Random),
            (Level::Best, _) => self.strongest(None),
            (_, Some(Ok(source))) => {
                let settings = level.settings(self.game).expect("every other level has settings");
                let mb = settings.sims.filter(|&sims| sims > 0).and(Some(MEGABYTES));
                let nodes = settings.sims.map(u64::from);
                LimitedAgent {
                    nodes,
                    ..LimitedAgent::of(AgentSpec::Network(source.clone(), TreeSpec { mb, ..settings }))
                }
            }
            (Level::Beginner, _) => rollout(Some(16)),
            (Level::Easy, _) => rollout(Some(40)),
            (Level::Casual, _) if self.evaluates => LimitedAgent::of(AgentSpec::Greedy),
            (Level::Casual, _) => rollout(Some(100)),
            (Level::Medium, _) => self.search(100, 250),
            (Level::Hard, _) => self.search(1000, 600),
            (Level::Expert, _) => self.search(10_000, 1500),
        };
        LimitedAgent { time: Some(MOVE_TIME), ..agent }
    }

    /// Alpha-beta search in a game with an evaluation, or else a search with playouts.
    fn search(&self, nodes: u64, sims: u32) -> LimitedAgent {
        match self.evaluates {
            true => LimitedAgent { nodes: Some(nodes), ..LimitedAgent::of(AgentSpec::AlphaBeta(built_in_settings())) },
            false => rollout(Some(sims)),
        }
    }

    /// The strongest agent, with tables and proven wins. The built-in one evaluates this many root moves exactly.
    fn strongest(&self, lines: Option<u32>) -> LimitedAgent {
        let (tables, mb) = (self.tables.clone(), Some(MEGABYTES));
        match &self.trained {
            // The search looks up its leaves in the tables, too.
            Some(Ok(source)) => {
                let proof = self.proof.then_some(YesNo::Yes);
                LimitedAgent::of(AgentSpec::Network(
                    source.clone(),
                    TreeSpec { tables, proof, mb, ..TreeSpec::default() },
                ))
            }
            _ if !self.evaluates => rollout(None),
            _ => LimitedAgent {
                nodes: Some(UNREACHABLE_NODES),
                ..LimitedAgent::of(AgentSpec::AlphaBeta(AlphaBetaSpec { lines, tables, ..built_in_settings() }))
            },
        }
    }
}

/// A search with playouts.
fn rollout(sims: Option<u32>) -> LimitedAgent {
    let spec = AgentSpec::Rollout(TreeSpec { sims, mb: Some(MEGABYTES), ..TreeSpec::default() });
    LimitedAgent { nodes: sims.map(u64::from), ..LimitedAgent::of(spec) }
}

fn built_in_settings() -> AlphaBetaSpec {
    AlphaBetaSpec { mb: Some(MEGABYTES), ..AlphaBetaSpec::default() }
}

/// The exact tables of a store; `None` for games of which it has none.
pub(crate) fn endgames(game: &dyn AnyGame, store: &Store) -> Result<Option<Arc<dyn AnyEndgames>>, String> {
    let Some(folder) = &store.tables else {
        return Ok(None);
    };
    match game.endgames(folder) {
        Ok(tables) => Ok(Some(tables)),
        Err(problem) if problem.kind == ExactErrorKind::NoTables => Ok(None),
        Err(problem) => Err(problem.to_string()),
    }
}

/// The same agent, with only the last part of the path of each file and folder.
pub(crate) fn named(spec: &AgentSpec) -> AgentSpec {
    let last = |path: &PathBuf| PathBuf::from(path.file_name().unwrap_or_default());
    let mut spec = spec.clone();
    if let Some(tables) = spec.tables_mut() {
        *tables = tables.as_ref().map(last);
    }
    if let AgentSpec::Network(AgentSource::File(path), _) = &mut spec {
        *path = last(path);
    }
    spec
}

/// Whether a remote user may choose this agent: it reads no file, and needs little more memory and time than
/// the levels.
pub fn is_harmless(spec: &str) -> bool {
    match spec.parse() {
        Ok(AgentSpec::Random | AgentSpec::Greedy) => true,
        Ok(AgentSpec::Uniform(given) | AgentSpec::Rollout(given) | AgentSpec::Network(AgentSource::Program, given)) => {
            let modest = given.sims.is_none_or(|sims| sims <= MOST_SIMULATIONS);
            modest && given.mb.is_none() && given.tables.is_none()
        }
        Ok(AgentSpec::AlphaBeta(given)) => {
            let modest = given.nodes.is_none_or(|nodes| nodes <= MOST_NODES);
            modest && given.mb.is_none() && given.lines.is_none() && given.tables.is_none()
        }
        Ok(AgentSpec::Network(AgentSource::File(_), _)) | Err(_) => false,
    }
}
