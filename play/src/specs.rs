//! The one place that knows which agents there are: what the levels and the default mean, where
//! trained agents and exact tables are found, and whom a stranger may ask for.

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agents::Level;
use jarmo::agent::{self, Agent, AgentError, AgentSpec, AlphaBetaSpec, EndgameAgent, NetworkSpec};
use jarmo::catalog::CatalogGame;
use jarmo::net::AgentFile;
use jarmo::tables::{EndgameError, Endgames};

/// Memory for what a search remembers. A thinking thread keeps a few agents.
const MEGABYTES: u32 = 32;

/// Moves that a assessment compares.
const LINES: u32 = 3;

/// More nodes than fit into any time. Without a number the search would not look at the clock.
const ENOUGH: u64 = 1 << 40;

/// Simulations or nodes for every position of a game that is analysed: some tenths of a second.
const REVIEW_SIMULATIONS: u64 = 50_000;
const REVIEW_NODES: u64 = 1_000_000;

/// The most nodes or simulations a move that a stranger may ask for: some seconds.
const MOST_NODES: u64 = 2_000_000;
const MOST_SIMULATIONS: u32 = 10_000;

/// Names the folder of trained agents; where it is set, no other is looked into.
const FOLDER_VARIABLE: &str = "JARMO_CHECKPOINTS";

/// The folder of trained agents where the program was started, and beside the program.
const FOLDER: &str = "checkpoints";

/// An agent, and what it may spend on a move besides its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Strength {
    /// The agent.
    pub spec: AgentSpec,
    /// Nodes or simulations, if they are fixed.
    pub nodes: Option<u64>,
    /// Exact tables that answer for it where they reach.
    pub tables: Option<PathBuf>,
}

impl Strength {
    /// An agent that may spend what its spec says.
    pub fn of(spec: AgentSpec) -> Strength {
        Strength {
            spec,
            nodes: None,
            tables: None,
        }
    }
}

/// What lies on this machine to play with besides the program itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// Folders that may hold `GAME.safetensors`; the first one that does counts.
    pub agents: Vec<PathBuf>,
    /// A folder of exact tables.
    pub tables: Option<PathBuf>,
}

impl Store {
    /// Trained agents where they are looked for: in the folder that the environment names, or in
    /// `checkpoints` here or beside the program.
    pub fn installed() -> Store {
        let agents = match env::var_os(FOLDER_VARIABLE) {
            Some(folder) if folder.is_empty() => Vec::new(),
            Some(folder) => vec![folder.into()],
            None => {
                let program = env::current_exe().ok();
                let beside = program.and_then(|program| Some(program.parent()?.join(FOLDER)));
                std::iter::once(FOLDER.into()).chain(beside).collect()
            }
        };
        Store {
            agents,
            tables: None,
        }
    }

    /// The trained agent of a game.
    fn trained(&self, game: &str) -> Option<PathBuf> {
        let file = format!("{game}.safetensors");
        let mut files = self.agents.iter().map(|folder| folder.join(&file));
        files.find(|path| path.exists())
    }
}

/// A trained agent that cannot play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its file.
    pub file: PathBuf,
    /// What is wrong with it, and the remedy.
    pub problem: String,
}

impl Refused {
    /// The problem for a stranger, who need not know where the file lies.
    pub fn without_folder(&self) -> String {
        let name = self.file.file_name().unwrap_or_default();
        format!("{}: {}", name.to_string_lossy(), self.problem)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.file.display(), self.problem)
    }
}

/// Who there is for one game: the levels, and the agent that judges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crew {
    trained: Option<PathBuf>,
    refused: Option<Refused>,
    tables: Option<PathBuf>,
}

impl Crew {
    /// The best that a store has for this game. A trained agent that cannot play it is left out.
    pub(crate) fn of<G: CatalogGame>(game: &G, store: &Store, tables: bool) -> Crew {
        let (trained, refused) = match store.trained(game.id()) {
            None => (None, None),
            Some(file) => match AgentFile::load_for(&file, game) {
                Ok(_) => (Some(file), None),
                Err(error) => {
                    let problem = error.problem().to_owned();
                    (None, Some(Refused { file, problem }))
                }
            },
        };
        Crew {
            trained,
            refused,
            tables: store.tables.clone().filter(|_| tables),
        }
    }

    /// Whether the strongest agent was trained, or is the best of the built-in ones.
    pub fn is_trained(&self) -> bool {
        self.trained.is_some()
    }

    /// The trained agent that is there and cannot play.
    pub fn refused(&self) -> Option<&Refused> {
        self.refused.as_ref()
    }

    /// The agent that judges positions: hints and the evaluation. It takes what time it is given.
    pub fn analyst(&self) -> Strength {
        self.strongest(Some(LINES))
    }

    /// The agent that judges the positions of a whole game. What it spends does not depend on the machine,
    /// so the same game is judged the same way again.
    pub fn reviewer(&self) -> Strength {
        Strength {
            nodes: Some(if self.is_trained() {
                REVIEW_SIMULATIONS
            } else {
                REVIEW_NODES
            }),
            ..self.analyst()
        }
    }

    /// The agent that plays at a level.
    pub fn of_level(&self, level: Level) -> Strength {
        let limited = |trained, built_in| Strength {
            nodes: Some(if self.is_trained() { trained } else { built_in }),
            tables: None,
            spec: match &self.trained {
                Some(file) => AgentSpec::File(file.clone(), trained_settings()),
                None => AgentSpec::AlphaBeta(built_in_settings()),
            },
        };
        match level {
            Level::Newcomer => Strength::of(AgentSpec::Random),
            Level::Easy => Strength::of(AgentSpec::Greedy),
            Level::Medium => limited(8, 300),
            Level::Hard => limited(100, 10_000),
            Level::Best => self.strongest(None),
        }
    }

    /// The agent that searches, with all it can have. The built-in one follows so many lines exactly.
    fn strongest(&self, lines: Option<u32>) -> Strength {
        match &self.trained {
            // A tree has its leaves, too, looked up.
            Some(file) => Strength::of(AgentSpec::File(
                file.clone(),
                NetworkSpec {
                    tables: self.tables.clone(),
                    ..trained_settings()
                },
            )),
            None => Strength {
                spec: AgentSpec::AlphaBeta(AlphaBetaSpec {
                    lines,
                    ..built_in_settings()
                }),
                nodes: Some(ENOUGH),
                tables: self.tables.clone(),
            },
        }
    }
}

fn trained_settings() -> NetworkSpec {
    NetworkSpec {
        mb: Some(MEGABYTES),
        ..NetworkSpec::default()
    }
}

fn built_in_settings() -> AlphaBetaSpec {
    AlphaBetaSpec {
        mb: Some(MEGABYTES),
        ..AlphaBetaSpec::default()
    }
}

/// The exact tables of a store, if there can be any for this game.
pub(crate) fn endgames<G: CatalogGame>(
    game: &G,
    store: &Store,
) -> Result<Option<Arc<dyn Endgames<G>>>, String> {
    let Some(folder) = &store.tables else {
        return Ok(None);
    };
    match game.open_endgames(folder) {
        Ok(tables) => Ok(Some(tables)),
        Err(EndgameError::NoTables(_)) => Ok(None),
        Err(problem @ EndgameError::File(_)) => Err(problem.to_string()),
    }
}

/// Reads the spec of an agent that can play the game.
pub fn check<G: CatalogGame>(game: &G, text: &str) -> Result<AgentSpec, String> {
    let spec: AgentSpec = text
        .parse()
        .map_err(|error: AgentError| error.to_string())?;
    build(game, &Strength::of(spec.clone()))?;
    Ok(spec)
}

/// The agent of a strength.
pub(crate) fn build<G: CatalogGame>(
    game: &G,
    strength: &Strength,
) -> Result<Box<dyn Agent<G>>, String> {
    let agent = agent::build(game.clone(), &strength.spec).map_err(|error| error.to_string())?;
    let Some(folder) = &strength.tables else {
        return Ok(agent);
    };
    let tables = game
        .open_endgames(folder)
        .map_err(|error| error.to_string())?;
    let name = agent.name().to_owned();
    Ok(Box::new(EndgameAgent::new(
        game.clone(),
        name,
        tables,
        agent,
    )))
}

/// Whether a stranger may ask for this agent: none that reads a file, or takes more memory or time
/// than the levels do by much.
pub fn is_harmless(spec: &str) -> bool {
    match spec.parse() {
        Ok(AgentSpec::Random | AgentSpec::Greedy) => true,
        Ok(AgentSpec::Uniform(given) | AgentSpec::Rollout(given)) => {
            let modest = given.sims.is_none_or(|sims| sims <= MOST_SIMULATIONS);
            modest && given.mb.is_none() && given.tables.is_none()
        }
        Ok(AgentSpec::AlphaBeta(given)) => {
            let modest = given.nodes.is_none_or(|nodes| nodes <= MOST_NODES);
            modest && given.mb.is_none() && given.lines.is_none()
        }
        Ok(AgentSpec::Tables(..) | AgentSpec::File(..)) | Err(_) => false,
    }
}
