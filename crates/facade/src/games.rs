//! The games of a program.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

use crate::erased::Erased;
use crate::game::AnyGame;
use jarmo_configs::{BARE, GAMES};
use jarmo_exact::ExactError;
use jarmo_exact::catalog::{CatalogGame, GameSettings, GameTask, with_game};

/// Games by name, in the order in which they are listed. The first one is the default.
///
/// A game from another crate is added with [`Games::register`]. It implements [`Game`](jarmo_core::game::Game) and
/// [`Encode`](jarmo_core::encode::Encode); the other traits of a [`CatalogGame`] have defaults:
///
/// ```
/// # use jarmo_core::games::{Scripted, scripted::Node};
/// # fn chess() -> Scripted { Scripted::new(&Node::white([Node::end(1, 0), Node::end(0, 1)])) }
/// use jarmo_core::agent::Limit;
/// use jarmo_core::game::Action;
/// use jarmo_core::random::stream;
/// use jarmo_exact::agent::Networks;
/// use jarmo_exact::catalog::GameSettings;
/// use jarmo_facade::{AgentPlan, AnyRequest, Games};
///
/// let games = Games::shipped().register(chess()); // a `Game` whose `id` is "scripted"
/// assert_eq!(games.names(), ["jarmo", "guard", "tammi", "connect_four", "scripted"]);
///
/// let game = games.open("scripted", &GameSettings::default())?;
/// let mut agent = game.agent(&AgentPlan::new("rollout:100".parse()?, &Networks::new()))?;
/// let (position, mut stream) = (&game.facts().start, stream(1, 0));
/// let request = AnyRequest { position, stream: &mut stream, limit: Limit::default(), memory: None };
/// assert_eq!(agent.choose(vec![request])[0].action, Action(0)); // it wins
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `jarmo::cli::main(&games)` is the whole `jarmo` program for these games; the folder `examples/othello` is a crate that
/// does so.
#[derive(Clone)]
pub struct Games(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    listed: Listed,
    open: Arc<Open>,
}

/// Makes the game with these settings.
type Open = dyn Fn(&GameSettings) -> Result<Arc<dyn AnyGame>, ExactError> + Send + Sync;

/// A game in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: &'static str,
    /// The training settings that differ from the defaults, as TOML.
    pub training: &'static str,
}

/// The games of `jarmo`.
impl Default for Games {
    fn default() -> Games {
        Games::shipped()
    }
}

impl Games {
    /// No games, for a program that has only your own games.
    pub fn empty() -> Games {
        Games(Vec::new())
    }

    /// The games of `jarmo`.
    pub fn shipped() -> Games {
        let entry = |(name, training)| Entry {
            listed: Listed { name, training },
            open: Arc::new(move |settings| with_game(name, settings, Erase(settings.quiet_limit))),
        };
        Games(GAMES.into_iter().map(entry).collect())
    }

    /// These games and one more. The only setting of its rules is the move limit. If it has no evaluation, its training
    /// settings are those of games without one.
    ///
    /// # Panics
    /// Panics if the name is taken, or is not made of `a` to `z`, `0` to `9` and `_`.
    #[track_caller]
    #[must_use]
    pub fn register<G: CatalogGame>(mut self, game: G) -> Games {
        let (name, type_name) = (game.id(), type_name::<G>());
        let is_fit = |symbol: u8| matches!(symbol, b'a'..=b'z' | b'0'..=b'9' | b'_');
        assert!(
            !name.is_empty() && name.bytes().all(is_fit),
            "the name `{name}` of {type_name} must be made of a to z, 0 to 9 and _, because files are named after it",
        );
        if let Ok(other) = self.open(name, &GameSettings::default()) {
            let other = other.facts().type_name;
            panic!("two games are named `{name}`: {other} and {type_name}; give one of them another id");
        }
        let training = if game.heuristic().is_none() { BARE } else { "" };
        let open = move |settings: &GameSettings| -> Result<Arc<dyn AnyGame>, ExactError> {
            let fitting = GameSettings { max_plies: settings.max_plies, ..GameSettings::default() };
            settings.refuse_others(name, &fitting)?;
            let game = game.clone();
            Ok(erase(match settings.max_plies {
                None => game,
                Some(limit) => game.with_max_plies(limit),
            }))
        };
        self.0.push(Entry { listed: Listed { name, training }, open: Arc::new(open) });
        self
    }

    /// Sets the training settings of the game that was registered last: those that differ from the defaults, as TOML.
    /// `train --game NAME` uses them. Errors in them are reported when a run begins.
    ///
    /// # Panics
    /// Panics without games.
    #[must_use]
    pub fn trained_with(mut self, training: &'static str) -> Games {
        self.0.last_mut().expect("a game was registered").listed.training = training;
        self
    }

    /// The names and training settings.
    pub fn list(&self) -> Vec<Listed> {
        self.0.iter().map(|entry| entry.listed).collect()
    }

    /// The names.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|entry| entry.listed.name).collect()
    }

    /// The named game with these settings.
    pub fn open(&self, name: &str, settings: &GameSettings) -> Result<Arc<dyn AnyGame>, ExactError> {
        match self.0.iter().find(|entry| entry.listed.name == name) {
            Some(entry) => (entry.open)(settings),
            None => Err(ExactError::unknown_game(name, &self.names())),
        }
    }
}

impl fmt::Debug for Games {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.names()).finish()
    }
}

/// Erases the type of a game.
pub fn erase<G: CatalogGame>(game: G) -> Arc<dyn AnyGame> {
    Arc::new(Erased::new(game, None))
}

/// With this quiet limit in its settings.
struct Erase(Option<u32>);

impl GameTask for Erase {
    type Output = Arc<dyn AnyGame>;

    fn run<G: CatalogGame>(self, game: G) -> Arc<dyn AnyGame> {
        Arc::new(Erased::new(game, self.0))
    }
}
